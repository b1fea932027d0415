/** Plain JSON, as it crosses Temporal and lies in the store. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };
