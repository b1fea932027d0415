import type { RunProgress } from '../../client/progress.ts';
import { sumProgress } from '../../client/progress.ts';
import { toPrintable } from '../../reports/terminal-text.ts';
import { formatCount, formatDuration, formatState, formatUsd } from '../format.ts';
import { formatEngineLine } from './engine-line.ts';
import { toHint } from './hint.ts';
import { formatRows } from './progress-rows.ts';
import type { ProgressView, Screen } from './progress-view.ts';
import { fitEnd, fitMiddle, toWidth } from './text-width.ts';

/** Lines that the display has for models and for engines. */
export type Room = { readonly rows: number; readonly engines: number };

/** Headline, heads of the columns, hint; and the line on which the cursor rests. */
const OTHER_LINES = 4;

/**
 * How many lines models and engines get on a screen: decided once for a run, so that the display neither grows
 * nor shrinks. Models go first, one engine at least is shown.
 */
export function planRoom(wanted: Room, { height }: Pick<Screen, 'height'>): Room {
  const lines = Math.max(2, height - OTHER_LINES);
  const engines = Math.min(
    wanted.engines,
    Math.max(1, lines - wanted.rows),
    Math.max(1, Math.floor(lines / 3)),
  );
  return { rows: Math.min(wanted.rows, lines - engines), engines };
}

/**
 * The live display of a run: exactly as many lines as the room and three more, none wider than the screen. A run
 * without a plan has two.
 */
export function formatProgressTable(view: ProgressView, screen: Screen, room: Room): string {
  const { progress } = view;
  const hint = screen.colors.dim(fitEnd(toHint(view), screen.width - 1));
  if (progress.rows.length === 0 && room.rows === 0) return [formatHeadline(view, screen), hint].join('\n');
  return [
    formatHeadline(view, screen),
    ...formatRows(view, screen, room.rows),
    ...formatEngines(progress, screen, room.engines),
    hint,
  ].join('\n');
}

/** The id and where the run stands; what a narrow screen has no room for is left out, least important first. */
function formatHeadline(view: ProgressView, { width, colors }: Screen): string {
  let facts = listFacts(view);
  const toText = (): string => facts.map(({ text }) => text).join(' · ');
  for (let weight = 0; weight < HEAVIEST && toWidth(toText()) > width - NAME_WIDTH; weight += 1) {
    facts = facts.filter((fact) => fact.weight !== weight);
  }
  const text = fitEnd(toText(), Math.max(10, width - 12));
  const name = fitMiddle(toPrintable(view.progress.runId), Math.max(8, width - 3 - toWidth(text)));
  return `${colors.bold(name)}  ${text}`;
}

/** Columns that the id of a run should have. */
const NAME_WIDTH = 24;

/** The heaviest facts are never left out. */
type Fact = { readonly text: string; readonly weight: number };
const HEAVIEST = 5;

function listFacts({ progress, elapsedMs, remainingMs }: ProgressView): readonly Fact[] {
  const { rows, budget, state } = progress;
  const { done, planned, costUsd } = sumProgress(rows);
  const percent = planned === 0 ? null : `${Math.floor((100 * done) / planned)} %`;
  // A cap counts the worst case where a cost is not known.
  const money =
    budget?.capUsd == null
      ? done === 0
        ? null
        : formatUsd(costUsd)
      : `${formatUsd(budget.spentUsd)} of ${formatUsd(budget.capUsd)}`;
  const tokens =
    budget?.capTokens == null
      ? null
      : `${formatCount(budget.spentTokens)} of ${formatCount(budget.capTokens)} tokens`;
  const left = remainingMs === null || remainingMs <= 0 ? null : `about ${formatDuration(remainingMs)} left`;
  const facts: readonly (readonly [string | null, number])[] = [
    [formatState(state), HEAVIEST],
    [planned === 0 ? null : `${done}/${planned}`, HEAVIEST],
    [percent, 0],
    [money, 4],
    [tokens, 2],
    [formatDuration(elapsedMs), 1],
    [left, 3],
  ];
  return facts.flatMap(([text, weight]) => (text === null ? [] : [{ text, weight }]));
}

/** One line each; the last one counts those for which there is no line. */
function formatEngines(
  { engines, missingKeys }: RunProgress,
  { width, colors }: Screen,
  room: number,
): readonly string[] {
  const isHeld = ({ pausedUntil, waitingForRate, trip }: (typeof engines)[number]): boolean =>
    trip !== null || pausedUntil !== null || waitingForRate > 0;
  const ordered = [...engines.filter(isHeld), ...engines.filter((engine) => !isHeld(engine))];
  const shown = engines.length <= room ? engines : ordered.slice(0, Math.max(1, room - 1));
  const lines = shown
    .slice(0, room)
    .map((engine) => formatEngineLine(engine, { width: width - 1, missingKeys }));
  const hidden = engines.length - lines.length;
  if (hidden > 0 && lines.length < room) lines.push(fitEnd(`and ${hidden} more engines`, width - 1));
  return Array.from({ length: room }, (_, index) => colors.dim(lines[index] ?? ''));
}
