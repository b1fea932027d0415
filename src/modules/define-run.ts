import type { toolEntrySchema } from '../config/harness-schema.ts';
import type * as z from 'zod';
import type { configFileSchema } from '../config/config-file.ts';
import type { providerSchema, requestSchema, runFileSchema } from '../config/run-file.ts';
import type { scorerEntry } from '../config/shapes.ts';
import type { caseSchema, defaultsSchema, suiteFileSchema } from '../config/suite-file.ts';
import { mark, type Defined, type DEFINITION } from './definition.ts';
import type { DefinedProvider } from './define-provider.ts';
import type { DefinedScorer } from './define-scorer.ts';
import type { DefinedTool } from './define-tool.ts';

/** A type with some of its keys said in another way. */
type Replace<Whole, Parts> = Omit<Whole, keyof Parts> & Parts;

type OneScorer =
  | z.input<typeof scorerEntry>
  | DefinedScorer
  | {
      readonly kind: DefinedScorer;
      readonly name?: string;
      readonly weight?: number;
      readonly threshold?: number;
      readonly required?: boolean;
      readonly [option: string]: unknown;
    };

type Scorers = { readonly scorers?: readonly OneScorer[] };

/** A case in place. */
export type CaseInput = Replace<z.input<typeof caseSchema>, Scorers>;

/** A suite in place. */
export type SuiteInput = Replace<
  z.input<typeof suiteFileSchema>,
  Scorers & {
    readonly defaults?: Replace<z.input<typeof defaultsSchema>, Scorers>;
    readonly cases: string | readonly (string | CaseInput)[];
  }
>;

/** A definition has a name, too: only that of a tool is one. */
type ToolInput =
  | string
  | (Exclude<z.input<typeof toolEntrySchema>, string> & { readonly [DEFINITION]?: never });
type GivenHarness = Exclude<z.input<typeof requestSchema>['harness'], undefined>;
type HarnessInput =
  | Exclude<GivenHarness, { kind: 'agent' }>
  | Replace<
      Extract<GivenHarness, { kind: 'agent' }>,
      { readonly tools?: readonly (ToolInput | DefinedTool)[] }
    >;

type OwnParts = { readonly harness?: HarnessInput };

/** One request in place. */
export type RequestInput = Replace<
  z.input<typeof requestSchema>,
  OwnParts & { readonly suite: string | SuiteInput }
>;

type ProviderInput = Replace<z.input<typeof providerSchema>, { readonly kind: string | DefinedProvider }>;

/** A run file as TypeScript writes it: the same keys as in YAML, tools and scorers by their definitions. */
export type RunFile = Replace<
  z.input<typeof runFileSchema>,
  OwnParts & {
    readonly providers?: readonly ProviderInput[];
    readonly suite?: string | SuiteInput;
    readonly requests?: readonly RequestInput[];
  }
>;

/** What `assay.config.ts` may give for every run of its project. */
export type ConfigFile = z.input<typeof configFileSchema>;

export type DefinedRun = Defined<'run'>;
export type DefinedConfig = Defined<'config'>;

/** A run file: `export default defineRun({ ... })`. It is checked when `assay run` reads it. */
export const defineRun = (file: RunFile): DefinedRun => mark('run', file);

/** Defaults of a project: `export default defineConfig({ ... })` in `assay.config.ts`. */
export const defineConfig = (file: ConfigFile): DefinedConfig => mark('config', file);
