import { isVariableName } from '../config/literal-keys.ts';
import type { RunOverrides } from '../config/overrides.ts';
import type { Selection } from '../config/selection.ts';
import { UsageError } from './usage-error.ts';

/** Options of `run` as the command line gives them. */
export type RunOptions = {
  readonly case?: readonly string[];
  readonly tag?: readonly string[];
  readonly excludeTag?: readonly string[];
  readonly limit?: number;
  readonly model?: readonly string[];
  readonly request?: readonly string[];
  readonly endpoint?: string;
  readonly endpointModel?: readonly string[];
  readonly endpointKeyEnv?: string;
  readonly attempts?: number;
  readonly concurrency?: number;
  readonly maxUsd?: number;
  readonly environment?: string;
  readonly runId?: string;
  readonly detach?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly reuse?: string;
  readonly allowMismatch?: boolean;
};

/** Which run cells are taken from; null = none. Throws a UsageError when options contradict each other. */
export function toReuse({
  reuse,
  allowMismatch,
  dryRun,
}: RunOptions): { readonly word: string; readonly allowMismatch: boolean } | null {
  if (reuse === undefined && allowMismatch === true)
    throw new UsageError('--allow-mismatch needs --reuse RUN: it says which cells are taken from that run.');
  if (reuse !== undefined && dryRun === true)
    throw new UsageError(
      '--dry-run looks at the file alone, and what --reuse takes is known once a run is planned.',
    );
  return reuse === undefined ? null : { word: reuse, allowMismatch: allowMismatch === true };
}

export function toSelection(options: RunOptions): Selection {
  return {
    cases: options.case ?? [],
    tags: options.tag ?? [],
    excludeTags: options.excludeTag ?? [],
    limit: options.limit ?? null,
    models: options.model ?? [],
    requests: options.request ?? [],
  };
}

/** Throws a UsageError when options contradict each other. */
export function toOverrides(options: RunOptions): RunOverrides {
  const endpoint = toEndpoint(options);
  return {
    ...(options.attempts === undefined ? {} : { attempts: options.attempts }),
    ...(options.concurrency === undefined ? {} : { taskConcurrency: options.concurrency }),
    ...(options.maxUsd === undefined ? {} : { maxRunUsd: options.maxUsd }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(options.environment === undefined ? {} : { environment: toEnvironment(options.environment) }),
  };
}

function toEnvironment(given: string): 'host' | 'bubblewrap' {
  if (given === 'host' || given === 'bubblewrap') return given;
  throw new UsageError(
    `--environment "${given}": expected host or bubblewrap; docker needs an image, which the run file names.`,
  );
}

function toEndpoint(options: RunOptions): Exclude<RunOverrides['endpoint'], undefined> | null {
  const { endpoint, endpointModel, endpointKeyEnv } = options;
  if (endpoint === undefined) {
    if (endpointModel !== undefined || endpointKeyEnv !== undefined) {
      throw new UsageError('--endpoint-model and --endpoint-key-env need --endpoint URL.');
    }
    return null;
  }
  if (/\/\/[^/]*@/.test(endpoint)) {
    throw new UsageError(
      '--endpoint holds a user name or password: put the key into a variable and name it with --endpoint-key-env.',
    );
  }
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    throw new UsageError(
      `--endpoint "${endpoint}" is no http or https address; such as http://127.0.0.1:8080/v1.`,
    );
  }
  if (endpointModel === undefined)
    throw new UsageError('--endpoint needs --endpoint-model NAME, the model to ask for.');
  if (endpointKeyEnv !== undefined && !isVariableName(endpointKeyEnv)) {
    throw new UsageError('--endpoint-key-env takes the name of a variable, never a key itself.');
  }
  return { baseUrl: endpoint, models: [...new Set(endpointModel)], apiKeyEnv: endpointKeyEnv ?? null };
}
