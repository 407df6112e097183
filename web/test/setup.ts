import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';

afterEach(cleanup);
// Waits are long, because a machine that also builds is slow; no test measures a time.
configure({ asyncUtilTimeout: 20_000 });
