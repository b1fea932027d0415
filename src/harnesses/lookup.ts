import type { HarnessSpec } from '../domain/run.ts';
import { agent } from './agent.ts';
import { command } from './command.ts';
import { direct } from './direct.ts';
import type { Harness } from './harness.ts';

export { toPrompt } from './command.ts';
export { loadPresets } from './presets/load-presets.ts';

/** Every harness by its kind: a new one is a file and a line here. */
const HARNESSES: { readonly [K in HarnessSpec['kind']]: Harness } = { direct, agent, command };

/** Kinds that a run file may name. */
export const HARNESS_KINDS: readonly string[] = Object.keys(HARNESSES);

export const findHarness = (kind: HarnessSpec['kind']): Harness => HARNESSES[kind];
