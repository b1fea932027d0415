/** Files of `assay init`: path beside each other -> text. They work at once, on models that need no key. */
export type Template = { readonly path: string; readonly text: string };

/** `schemas` is the folder or address of the JSON Schemas, for the completion of editors. */
export const createTemplates = (schemas: string): readonly Template[] => [
  { path: 'run.yaml', text: toRunFile(schemas) },
  { path: 'questions.suite.yaml', text: toSuiteFile(schemas) },
];

const toRunFile = (schemas: string): string => `# yaml-language-server: $schema=${schemas}/run.schema.json
#
# What to run: every model answers every case of the suite. Start it with:  assay run run.yaml
name: first-run

models:
  # Two models that live inside Assay, so that this file works without a key.
  # "mock:oracle" knows every answer; "mock:flaky" knows about six in ten.
  - mock:oracle
  - id: sometimes-wrong
    provider: mock
    model: flaky
    params: { accuracy: 0.6, wrongText: "I do not know." }

  # Real models. Put the key into the variable that is named and take away the signs below.
  # - openai:gpt-5-mini                             # OPENAI_API_KEY
  # - anthropic:claude-haiku-4-5                    # ANTHROPIC_API_KEY
  # - google:gemini-2.5-flash                       # GOOGLE_GENERATIVE_AI_API_KEY
  # - id: my-model                                  # behind an address of your own, see below
  #   provider: my-server
  #   model: name-that-the-server-knows
  #   params: { temperature: 0, maxOutputTokens: 512 }
  #   price: { input: 0.25, output: 2.00 }        # USD per million tokens

# Kinds: openai, anthropic, google, openai-compatible (any server that speaks OpenAI's chat form), mock.
# providers:
#   - id: my-server
#     kind: openai-compatible
#     baseUrl: http://127.0.0.1:8080/v1
#     apiKeyEnv: MY_SERVER_KEY                     # the name of a variable, never the key itself

suite: ./questions.suite.yaml
attempts: { k: 2 }              # how often each model answers each case

# Safety nets. Each is off unless you set it.
# budgets: { maxRunUsd: 1.00, confirmAboveUsd: 0.50 }
# gates:   { minCoverage: 1, minPassRate: 0.8 }     # for CI: the command fails below these
`;

const toSuiteFile = (schemas: string): string => `# yaml-language-server: $schema=${schemas}/suite.schema.json
#
# What is asked, and how answers are judged. Targets are seen by scorers only, never by a model.
name: questions
version: "1"

# Judge a case that names no scorers of its own.
scorers: [includes]

defaults:
  system: Answer as briefly as you can.

cases:
  - id: capital
    input: What is the capital of Australia?
    target: Canberra
    tags: [geography]

  - id: river
    input: Which river flows through Vienna, Budapest and Belgrade?
    target: Danube
    tags: [geography]

  # The whole answer must equal the target; a list means any of them.
  - id: opposite
    input: What is the opposite of "ancient"? One word.
    target: [modern, new]
    scorers: [{ kind: exact, ignoreCase: true }]
    tags: [words]

  - id: plural
    input: What is the plural of "mouse", the animal? One word, lower case.
    target: mice
    scorers: [exact]
    tags: [words]

  # The number in the answer must be near the target.
  - id: sum
    input: What is 17 + 25?
    target: 42
    scorers: [numeric]
    tags: [arithmetic]

  - id: circle
    input: How long is the edge of a circle with a diameter of 10? Give two decimals.
    target: 31.42
    scorers: [{ kind: numeric, tolerance: 0.01 }]
    tags: [arithmetic]
`;
