// Whom credits are sent to: what is typed is a key of another owner, or a sentence says why not.
import type { Owner } from '../../wire/api';
import { fromBase58 } from '../wallet/bytes';

/** Empty where the text names an owner that can be paid. */
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
