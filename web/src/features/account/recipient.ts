// Checks the recipient of a payment: the text must be the key of another owner.
import type { Owner } from '../../wire/api';
import { fromBase58 } from '../wallet/bytes';

/** Returns a sentence that says why the text is not a recipient, or an empty text if it is one. */
export function refusalOf(text: string, owner: Pick<Owner, 'owner' | 'devices'>, coordinator: string): string {
  try {
    fromBase58(text);
  } catch {
    return 'This is not the key of an owner: "weft wallet show" prints it, and the other’s page copies it.';
  }
  if (text === owner.owner || owner.devices.some(({ key }) => key === text)) return 'This is a key of your own: credits go to another owner.';
  if (text === coordinator) return 'This is the coordinator’s key, which names no owner.';
  return '';
}
