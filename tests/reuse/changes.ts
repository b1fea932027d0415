import type { Json } from '../../src/domain/json.ts';

/** A run file that names nearly everything, as JSON. */
export const BASE = {
  name: 'support',
  models: [
    {
      id: 'fast',
      provider: 'local',
      model: 'm-1',
      params: { temperature: 0, maxOutputTokens: 64 },
      price: { input: 1, output: 2 },
    },
  ],
  providers: [
    {
      id: 'local',
      kind: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:9/v1',
      apiKeyEnv: 'LOCAL_KEY',
      limits: { concurrency: 4, requestsPerMinute: 100 },
      retry: { max: 2, base: '1s' },
    },
  ],
  requests: [
    {
      name: 'tickets',
      suite: {
        name: 'tickets',
        version: '1',
        scorers: [{ kind: 'exact' }],
        cases: [
          {
            id: 'one',
            input: 'What is 1 + 1?',
            system: 'Be short.',
            target: '2',
            tags: ['sum'],
            weight: 1,
            metadata: { source: 'book' },
          },
          { id: 'two', input: 'What is 2 + 2?', target: '4' },
        ],
      },
      harness: { kind: 'agent', tools: ['bash', 'read_file'], maxSteps: 5 },
      environment: { kind: 'host', variables: { MODE: 'a' } },
      attempts: { k: 3, strategy: 'avg' },
      limits: { attemptTime: '30m', attemptTokens: 1000 },
    },
  ],
  execution: { taskConcurrency: 8, seed: 7 },
  budgets: { maxRunUsd: 5 },
  context: { tenant: 'acme' },
} as const satisfies Json;

/** What becomes of the cells of an earlier run. */
export type Fate = 'run again' | 'graded again' | 'kept';

export type Change = {
  /** For people. */
  readonly what: string;
  /** Path into `BASE`, and what stands there instead; undefined = it is taken away. */
  readonly set: readonly (readonly [path: string, value: Json | undefined])[];
  readonly fate: Fate;
  /** What a refusal names. */
  readonly field?: string;
  /** Of one case of two alone. */
  readonly oneCase?: boolean;
};

const MODEL = 'models.0';
const PROVIDER = 'providers.0';
const REQUEST = 'requests.0';
const CASE = `${REQUEST}.suite.cases.0`;

/** Every kind of change to a run file, with what it does to cells that are there already. */
export const CHANGES: readonly Change[] = [
  { what: 'model name', set: [[`${MODEL}.model`, 'm-2']], fate: 'run again', field: 'model.model' },
  {
    what: 'model parameter',
    set: [[`${MODEL}.params.temperature`, 0.7]],
    fate: 'run again',
    field: 'model.params.temperature',
  },
  {
    what: 'address of the provider',
    set: [[`${PROVIDER}.baseUrl`, 'http://127.0.0.1:10/v1']],
    fate: 'run again',
    field: 'model.baseUrl',
  },
  {
    what: 'input of a case',
    set: [[`${CASE}.input`, 'What is 1 plus 1?']],
    fate: 'run again',
    field: 'case.input.text',
    oneCase: true,
  },
  {
    what: 'system prompt',
    set: [[`${CASE}.system`, 'Be long.']],
    fate: 'run again',
    field: 'case.system',
    oneCase: true,
  },
  {
    what: 'choices',
    set: [[`${CASE}.choices`, ['1', '2']]],
    fate: 'run again',
    field: 'case.choices',
    oneCase: true,
  },
  {
    what: 'setup of a case',
    set: [[`${CASE}.setup`, 'touch a']],
    fate: 'run again',
    field: 'case.setup',
    oneCase: true,
  },
  { what: 'id of a case', set: [[`${CASE}.id`, 'uno']], fate: 'run again', oneCase: true },
  {
    what: 'harness',
    set: [
      [`${REQUEST}.harness`, 'direct'],
      [`${REQUEST}.environment`, 'none'],
    ],
    fate: 'run again',
    field: 'harness.kind',
  },
  {
    what: 'steps of the agent',
    set: [[`${REQUEST}.harness.maxSteps`, 6]],
    fate: 'run again',
    field: 'harness.maxSteps',
  },
  {
    what: 'tools, also their order',
    set: [[`${REQUEST}.harness.tools`, ['read_file', 'bash']]],
    fate: 'run again',
    field: 'harness.tools.order',
  },
  {
    what: 'policy of a tool',
    set: [[`${REQUEST}.harness.tools`, [{ name: 'bash', timeout: '5s' }, 'read_file']]],
    fate: 'run again',
    field: 'harness.tools.bash.policy.timeoutMs',
  },
  {
    what: 'environment',
    set: [[`${REQUEST}.environment.kind`, 'bubblewrap']],
    fate: 'run again',
    field: 'environment.kind',
  },
  {
    what: 'variables of the environment',
    set: [[`${REQUEST}.environment.variables.MODE`, 'b']],
    fate: 'run again',
    field: 'environment.variables.MODE',
  },
  {
    what: 'network of the agent',
    set: [
      [`${REQUEST}.environment.kind`, 'bubblewrap'],
      [`${REQUEST}.environment.network`, 'none'],
    ],
    fate: 'run again',
    field: 'environment.network.run.mode',
  },
  {
    what: 'which files of the agent are kept',
    set: [[`${REQUEST}.artifacts`, ['*.txt']]],
    fate: 'run again',
    field: 'environment.artifacts',
  },
  {
    what: 'limits of an attempt',
    set: [[`${REQUEST}.limits.attemptTokens`, 2000]],
    fate: 'run again',
    field: 'case.limits.attemptTokens',
  },
  { what: 'context', set: [['context.tenant', 'other']], fate: 'run again', field: 'context.tenant' },
  {
    what: 'scorer',
    set: [[`${REQUEST}.suite.scorers`, [{ kind: 'includes' }]]],
    fate: 'graded again',
  },
  {
    what: 'options, weight or threshold of a scorer',
    set: [[`${REQUEST}.suite.scorers.0.weight`, 2]],
    fate: 'graded again',
  },
  { what: 'target of a case', set: [[`${CASE}.target`, 'two']], fate: 'graded again', oneCase: true },
  {
    what: 'metadata of a case',
    set: [[`${CASE}.metadata.source`, 'web']],
    fate: 'graded again',
    oneCase: true,
  },
  {
    what: 'scorers of one case',
    set: [[`${CASE}.scorers`, [{ kind: 'includes' }]]],
    fate: 'graded again',
    oneCase: true,
  },
  { what: 'name of the run', set: [['name', 'other']], fate: 'kept' },
  { what: 'name of a request', set: [[`${REQUEST}.name`, 'other']], fate: 'kept' },
  { what: 'id of a model', set: [[`${MODEL}.id`, 'quick']], fate: 'kept' },
  {
    what: 'id of a provider',
    set: [
      [`${PROVIDER}.id`, 'here'],
      [`${MODEL}.provider`, 'here'],
    ],
    fate: 'kept',
  },
  { what: 'name and version of the suite', set: [[`${REQUEST}.suite.version`, '2']], fate: 'kept' },
  { what: 'weight, cluster and tags of a case', set: [[`${CASE}.weight`, 2]], fate: 'kept' },
  { what: 'price of a model', set: [[`${MODEL}.price.output`, 9]], fate: 'kept' },
  { what: 'name of a key variable', set: [[`${PROVIDER}.apiKeyEnv`, 'OTHER_KEY']], fate: 'kept' },
  { what: 'slots and rates of a provider', set: [[`${PROVIDER}.limits.concurrency`, 9]], fate: 'kept' },
  { what: 'retries of calls', set: [[`${PROVIDER}.retry.max`, 9]], fate: 'kept' },
  { what: 'retries of attempts', set: [[`${REQUEST}.retries`, { max: 3 }]], fate: 'kept' },
  { what: 'more attempts (those that are missing run)', set: [[`${REQUEST}.attempts.k`, 5]], fate: 'kept' },
  { what: 'strategy', set: [[`${REQUEST}.attempts.strategy`, 'pass']], fate: 'kept' },
  { what: 'order', set: [[`${REQUEST}.order`, 'model']], fate: 'kept' },
  { what: 'how long sessions are kept', set: [[`${REQUEST}.environment.keep`, '1h']], fate: 'kept' },
  { what: 'taskConcurrency, packing', set: [['execution.taskConcurrency', 2]], fate: 'kept' },
  { what: 'time limit of the run', set: [['execution.timeout', '1h']], fate: 'kept' },
  { what: 'seed of the run', set: [['execution.seed', 8]], fate: 'kept' },
  { what: 'budgets', set: [['budgets', { maxRunUsd: 50, onExceed: 'warn' }]], fate: 'kept' },
  { what: 'gates', set: [['gates', { minCoverage: 0.5 }]], fate: 'kept' },
  { what: 'ranking', set: [['ranking', { weights: { accuracy: 1, cost: 1 } }]], fate: 'kept' },
];

/** The base with a change made to it. */
export function applyChange({ set }: Pick<Change, 'set'>): Json {
  const document = structuredClone(BASE) as unknown as { [key: string]: unknown };
  for (const [path, value] of set) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    let at = document;
    for (const key of keys) at = (at[key] ??= {}) as { [key: string]: unknown };
    if (value === undefined) delete at[last];
    else at[last] = value;
  }
  return document as Json;
}
