// Types of layout.mjs, for the page (web/src/features/wallet).
export type Field = readonly [name: string, type: string, count?: number];
export type CallAccount = readonly [name: string, flags: string, kind?: string, more?: { readonly writable?: boolean }];
export const ring: number;
export const page_owners: number;
export const parameters: readonly (readonly [name: string, least: bigint, most: bigint])[];
export const sizes: Readonly<Record<string, number>>;
export const accounts: Readonly<Record<string, { readonly kind: number; readonly fields: readonly Field[] }>>;
export const records: Readonly<Record<string, { readonly fields: readonly Field[] }>>;
export const instructions: Readonly<Record<string, { readonly tag: number; readonly accounts: readonly CallAccount[]; readonly data: readonly Field[] }>>;
export function widthOf(field: Field): number;
export function lengthOf(fields: readonly Field[]): number;
export function numbered(): Map<number, { readonly name: string; readonly attack: string }>;
