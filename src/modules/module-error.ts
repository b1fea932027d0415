import type { ErrorFacts } from './child-messages.ts';

/** A module that cannot be loaded here, so none of its code can run. */
export class ModuleError extends Error {
  override name = 'ModuleError';
  /** What broke inside the module; null when its process could not do its work. */
  readonly facts: ErrorFacts | null;

  constructor(message: string, facts: ErrorFacts | null = null) {
    super(message);
    this.facts = facts;
  }
}
