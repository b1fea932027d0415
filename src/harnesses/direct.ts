import type { Harness } from './harness.ts';
import { toStartMessages } from './start-messages.ts';

/** Counts up when what models are told changes. */
export const HARNESS_VERSION = 'direct/1';

/** One call of the model with the case as it is: no tools, nothing added but choices. */
export const direct: Harness = {
  kind: 'direct',
  version: HARNESS_VERSION,
  startMessages: (testCase) => toStartMessages(testCase, null),
  listTools: () => [],
};
