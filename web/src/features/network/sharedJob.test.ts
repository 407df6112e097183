import { describe, expect, it } from 'vitest';
import { sharedJobAddress, sharedJobOf } from './sharedJob';

const id = '0123456789abcdef0123456789abcdef';
const link = 'fedcba9876543210fedcba9876543210';

describe('the address of a shared job', () => {
  it('is read back as it was made', () => {
    const address = sharedJobAddress('http://localhost/', { id, link });

    expect(address).toBe(`http://localhost/dashboard#job=${id}&link=${link}`);
    expect(sharedJobOf(address.slice(address.indexOf('#')))).toEqual({ id, link });
  });

  it('is nothing else', () => {
    for (const fragment of ['', '#', `#job=${id}`, `#job=${id}&link=`, `#job=../x&link=${link}`, `#job=${id}&link=${link}&x=1`]) expect(sharedJobOf(fragment)).toBeNull();
  });
});
