// Writes docs/acceptance.md: which acceptance case is shown by which test. A case counts as shown when a test's
// name carries its id. `tests/acceptance/acceptance.test.ts` fails when the file is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const range = (prefix, last, width = 1) =>
  Array.from({ length: last }, (_, index) => prefix + String(index + 1).padStart(width, '0'));

/** Families of cases: what they are about, their ids, and what the open ones touch. */
const FAMILIES = [
  [
    'Agent Arena: matrix, preflight, retries, budgets, leaderboard',
    range('AA-', 18, 2),
    'reports, budgets and reuse in full',
  ],
  ['Circuit breaker', range('CB-', 13, 2), 'the breaker'],
  ['Fan-out: one unit of work per cell', range('FE-', 14, 2), 'judges, live width, measured widths'],
  ['Tool reliability', range('AF-', 27, 2), 'fingerprints, which reuse brings'],
  ['AgentCompass: preparation', range('AC-P', 9), 'nothing'],
  [
    'AgentCompass: attempt order',
    range('AC-A', 20),
    'attempts without a harness, the order of two time limits',
  ],
  ['AgentCompass: retries', range('AC-R', 17), 'plans compared across tries'],
  ['AgentCompass: strategies and checkpoints', range('AC-K', 12), 'nothing'],
  ['AgentCompass: orchestration', range('AC-O', 11), 'pipelined requests'],
  [
    'AgentCompass: limits and time',
    range('AC-L', 12),
    'capacities shared by workers or changed while in use, ends at a deadline',
  ],
  [
    'AgentCompass: network',
    range('AC-N', 7),
    'never wider than asked, the model alone under a closed policy',
  ],
  ['AgentCompass: sessions', range('AC-S', 6), 'isolated environments'],
  ['AgentCompass: errors and results', range('AC-E', 11), 'two failures of one attempt, names outside'],
  ['AgentCompass: bookkeeping', range('AC-B', 3), 'benchmarks'],
  ['Field evidence', range('C', 30), 'judges, reuse, a full disk, hung cells, sizes'],
  [
    'Field cases',
    ['F01', 'F04', 'F05', 'F07', 'F10', 'F11', 'F12', 'F13', 'F15', 'F16', 'F19', 'F21', 'F24', 'F25', 'F35'],
    'command harness, judges, further reports',
  ],
];

/** Cases that have no counterpart here, and why. */
const WITHOUT = new Map([
  [
    'AF-22',
    'every call takes one path, the activity of its kind, whoever started the run; there is no second one to compare it with',
  ],
  [
    'AC-P2',
    'a run has one preflight, in its preparation; no request, task or attempt has one that could repeat it',
  ],
  [
    'AC-P9',
    'there is no registry of components that is loaded whole: a run loads what its own files name, and what cannot be loaded is told by its name',
  ],
  [
    'AC-K5',
    'a result has one place, its rows; there are no records of a task that are dropped once it is stored',
  ],
]);

const NAME = /\b(?:test|describe|it)(?:\.\w+(?:\([^)]*\))?)*\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs;
const ID = /\b(?:(?:AA|CB|FE|AF)-\d\d|AC-[A-Z]\d{1,2}|C\d{1,2}|F\d\d)\b/g;

/** A name in a table of cases, or in a function that declares tests: it begins with the ids. */
const LISTED = /(['"`])((?:(?:(?:AA|CB|FE|AF)-\d\d|AC-[A-Z]\d{1,2}|C\d{1,2}|F\d\d) )+)/g;

/** id -> paths of the test files whose test names carry it. */
export function findShown() {
  const shown = new Map();
  for (const path of globSync('tests/**/*{.test,-tests}.ts', { cwd: root }).sort()) {
    const text = readFileSync(root + path, 'utf8');
    for (const [, , name] of [...text.matchAll(NAME), ...text.matchAll(LISTED)]) {
      for (const [id] of name.matchAll(ID)) shown.set(id, new Set([...(shown.get(id) ?? []), path]));
    }
  }
  return shown;
}

export const listIds = () => FAMILIES.flatMap(([, ids]) => ids);

export function formatAcceptance() {
  const shown = findShown();
  const count = listIds().filter((id) => shown.has(id)).length;
  const sections = FAMILIES.map(([title, ids, about]) => {
    const open = ids.filter((id) => !shown.has(id) && !WITHOUT.has(id));
    const without = ids
      .filter((id) => WITHOUT.has(id))
      .map((id) => `${id} has no counterpart: ${WITHOUT.get(id)}.`);
    const rows = ids
      .filter((id) => shown.has(id))
      .map(
        (id) =>
          `| ${id} | ${[...shown.get(id)].map((path) => `\`${path.slice('tests/'.length)}\``).join(', ')} |`,
      );
    const table = rows.length === 0 ? [] : ['| Case | Shown by (below `tests/`) |', '|---|---|', ...rows, ''];
    const rest = open.length === 0 ? 'All are shown.' : `Open (${about}): ${open.join(', ')}.`;
    return [`## ${title}`, '', ...table, [rest, ...without].join('\n\n')].join('\n');
  });
  const head = [
    '# Acceptance cases',
    '',
    'Written by `npm run acceptance` from the names of the tests; a test fails when it is out of date.',
    'A case that is listed here is shown for the parts of Assay that exist. Open ones stand below their table, with what',
    'they are about: some ask for parts that are not built, some are not shown yet.',
    '',
    `${count} of ${listIds().length} cases are shown.`,
  ].join('\n');
  return `${[head, ...sections].join('\n\n')}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(`${root}docs/acceptance.md`, formatAcceptance());
