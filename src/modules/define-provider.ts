import { defineProvider as checkProvider, type ProviderDefinition } from '../providers/define-provider.ts';
import { mark, type Defined } from './definition.ts';

/** A kind of provider of a run file, as `providers[].kind` takes it. */
export type DefinedProvider = Defined<'provider'> & ProviderDefinition;

/**
 * A kind of provider of your own. In a run file its code runs in a process of the worker's: the calls of one
 * module share one, with a memory limit and a minimal environment. Throws an error that names every wrong field.
 */
export const defineProvider = (definition: ProviderDefinition): DefinedProvider =>
  mark('provider', checkProvider(definition));
