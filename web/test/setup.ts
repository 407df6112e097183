import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';

afterEach(cleanup);
// A machine that builds at the same time is slow; nothing here is timed.
configure({ asyncUtilTimeout: 20_000 });
