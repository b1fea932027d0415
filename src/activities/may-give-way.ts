import type { SessionSpec } from '../domain/run.ts';

/**
 * Whether an attempt that waits for its engine gives its place to others until the engine is asked once more: one that
 * has done nothing yet does. Its session is closed meanwhile, and opened again; one that is kept stays.
 */
export const mayGiveWay = (
  environment: { readonly kind: 'none' } | SessionSpec,
  { step, tryNumber }: { readonly step: number; readonly tryNumber: number },
): boolean => step === 1 && tryNumber === 1 && (!('keepMs' in environment) || environment.keepMs === null);
