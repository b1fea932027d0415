import type { Json } from '../domain/json.ts';
import { findNearest } from './nearest.ts';

const PLACEHOLDER = /\{\{\s*([\p{L}_][\p{L}\p{N}_.-]*)\s*\}\}/gu;

/** A filled template, or the names that had no value with the nearest that have one. */
export type Filled =
  | { readonly kind: 'filled'; readonly text: string }
  | { readonly kind: 'missing'; readonly names: readonly { name: string; nearest: string | null }[] };

/** Puts vars into `{{names}}`; texts as they are, other values as JSON. Text from vars is not filled again. */
export function fillPrompt(template: string, vars: { readonly [name: string]: unknown }): Filled {
  const missing = new Set<string>();
  const text = template.replace(PLACEHOLDER, (written, name: string) => {
    if (!Object.hasOwn(vars, name)) {
      missing.add(name);
      return written;
    }
    const value = vars[name] as Json;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
  if (missing.size === 0) return { kind: 'filled', text };
  const known = Object.keys(vars);
  return {
    kind: 'missing',
    names: [...missing].map((name) => ({ name, nearest: findNearest(name, known) })),
  };
}
