import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';

afterEach(cleanup);
// The time-out is long, because the machine may be slow while it also builds. No test here measures
// times.
configure({ asyncUtilTimeout: 20_000 });
