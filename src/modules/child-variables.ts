import { readKey } from '../config/environment-variables.ts';

const KEPT = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'] as const;

/** The few variables that code of a run file gets: never the worker's keys and addresses. */
export const readChildVariables = (): { readonly [name: string]: string } =>
  Object.fromEntries(
    KEPT.flatMap((name) => {
      const value = readKey(name);
      return value === null ? [] : [[name, value]];
    }),
  );
