import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Pack } from '../../src/domain/pack-tasks.ts';
import { grantLeftOver, placesToStart, wantedPlaces, type Holder } from '../../src/domain/places.ts';

const toPack = (tasks: number, k: number): Pack => ({
  requestIndex: 0,
  attempts: tasks * k,
  tasks: Array.from({ length: tasks }, (_, index) => ({
    task: index + 1,
    requestIndex: 0,
    modelId: 'm',
    caseId: `c${index}`,
    attempts: Array.from({ length: k }, (_unused, attempt) => attempt + 1),
  })),
});

test.each([
  { what: 'a light pack', pack: toPack(25, 1), strategy: 'avg', places: 16 },
  { what: 'a small pack', pack: toPack(3, 2), strategy: 'avg', places: 6 },
  { what: 'a heavy task', pack: toPack(1, 5), strategy: 'avg', places: 5 },
  { what: 'a heavy task under pass, one after another,', pack: toPack(1, 5), strategy: 'pass', places: 1 },
  { what: 'a pack under pass, one a task,', pack: toPack(4, 5), strategy: 'pass', places: 4 },
] as const)('$what wants $places places', ({ pack, strategy, places }) => {
  expect(wantedPlaces(pack, strategy)).toBe(places);
});

test.each([
  { want: 16, free: 32, all: 128, places: 16 },
  { want: 16, free: 8, all: 128, places: 8 },
  { want: 16, free: 7, all: 128, places: 0 },
  { want: 16, free: 1, all: 8, places: 1 },
  { want: 1, free: 1, all: 128, places: 1 },
  { want: 5, free: 0, all: 4, places: 0 },
])('a pack that wants $want of $free free places (taskConcurrency $all) starts with $places', (one) => {
  expect(placesToStart(one.want, one.free, one.all)).toBe(one.places);
});

const holder = (change: Partial<Holder>): Holder => ({
  id: 'a',
  attempts: 30,
  granted: 4,
  held: 4,
  busy: true,
  ...change,
});

test('left-over places go to those who still have attempts to start, first come first served', () => {
  const holders = [
    holder({ id: 'idle', busy: false }),
    holder({ id: 'few', attempts: 6 }),
    holder({ id: 'many' }),
  ];
  expect(grantLeftOver(holders, 5)).toEqual([
    { id: 'few', places: 2 },
    { id: 'many', places: 3 },
  ]);
  expect(grantLeftOver([holder({ held: 16, granted: 16 })], 9)).toEqual([]);
});

/** One task workflow as the model knows it. */
type Child = {
  readonly id: string;
  readonly firstPlaces: number;
  places: number;
  unstarted: number;
  running: number;
  unreported: number;
  readonly reports: number[];
  readonly grants: number[];
};

/** The window of a run and its task workflows, with signals that arrive whenever they like. */
class Model {
  readonly children = new Map<string, Child>();
  private readonly open = new Map<string, Holder>();
  private free: number;
  private readonly waiting: Pack[];
  private readonly all: number;
  private readonly strategy: 'avg' | 'pass';

  constructor(taskConcurrency: number, packs: readonly Pack[], strategy: 'avg' | 'pass') {
    this.free = taskConcurrency;
    this.all = taskConcurrency;
    this.waiting = [...packs];
    this.strategy = strategy;
  }

  get isDone(): boolean {
    return this.waiting.length === 0 && this.open.size === 0;
  }

  get running(): number {
    return [...this.children.values()].reduce((sum, child) => sum + child.running, 0);
  }

  /** Places that the run has given out or has left: always all of them. */
  get accounted(): number {
    return [...this.open.values()].reduce((sum, one) => sum + one.held, this.free);
  }

  /** Everything that may happen next. */
  moves(): (() => void)[] {
    const moves: (() => void)[] = [];
    const pack = this.waiting[0];
    const places = pack === undefined ? 0 : this.placesFor(pack);
    if (pack !== undefined && places > 0) moves.push(() => this.start(pack, places));
    for (const child of this.children.values()) {
      if (child.unstarted > 0 && child.running < child.places) moves.push(() => this.startChain(child));
      if (child.running > 0) moves.push(() => this.endChain(child));
      if (child.reports.length > 0) moves.push(() => this.hearReport(child));
      if (child.grants.length > 0) moves.push(() => this.hearGrant(child));
      if (child.unstarted === 0 && child.running === 0) moves.push(() => this.end(child));
    }
    return moves;
  }

  private placesFor(pack: Pack): number {
    const want = wantedPlaces(pack, this.strategy);
    return placesToStart(want, this.free, this.all);
  }

  private start(pack: Pack, places: number): void {
    this.waiting.shift();
    const id = String(this.waiting.length);
    const chains = this.strategy === 'pass' ? pack.tasks.length : pack.attempts;
    this.free -= places;
    this.open.set(id, { id, attempts: pack.attempts, granted: places, held: places, busy: true });
    const counts = { places, firstPlaces: places, unstarted: chains, running: 0, unreported: 0 };
    this.children.set(id, { id, ...counts, reports: [], grants: [] });
    this.grant();
  }

  private startChain(child: Child): void {
    child.unstarted -= 1;
    child.running += 1;
  }

  private endChain(child: Child): void {
    child.running -= 1;
    if (child.unstarted === 0) this.giveBack(child, 1);
  }

  private giveBack(child: Child, places: number): void {
    child.places -= places;
    child.unreported += places;
    if (child.running === 0 || child.unreported < Math.max(1, Math.floor(child.firstPlaces / 4))) return;
    child.reports.push(child.unreported);
    child.unreported = 0;
  }

  private hearReport(child: Child): void {
    const one = this.open.get(child.id);
    const reported = child.reports.shift() ?? 0;
    if (one === undefined) return;
    const places = Math.min(reported, one.held);
    this.free += places;
    this.open.set(one.id, { ...one, held: one.held - places, busy: false });
    this.grant();
  }

  private hearGrant(child: Child): void {
    const places = child.grants.shift() ?? 0;
    child.places += places;
    if (child.unstarted === 0) this.giveBack(child, places);
  }

  private end(child: Child): void {
    this.free += this.open.get(child.id)?.held ?? 0;
    this.open.delete(child.id);
    this.children.delete(child.id);
    this.grant();
  }

  private grant(): void {
    if (this.waiting.length > 0) return;
    for (const { id, places } of grantLeftOver([...this.open.values()], this.free)) {
      const one = this.open.get(id);
      if (one === undefined) continue;
      this.free -= places;
      this.open.set(id, { ...one, granted: one.granted + places, held: one.held + places });
      this.children.get(id)?.grants.push(places);
    }
  }
}

test('whatever the order of starts, frees and grants: never more places than taskConcurrency, and all packs end', () => {
  const pack = fc.record({ tasks: fc.integer({ min: 1, max: 25 }), k: fc.integer({ min: 1, max: 4 }) });
  const inputs = {
    taskConcurrency: fc.integer({ min: 1, max: 40 }),
    packs: fc.array(pack, { minLength: 1, maxLength: 6 }),
    strategy: fc.constantFrom('avg' as const, 'pass' as const),
    choices: fc.array(fc.nat({ max: 1_000 }), { minLength: 1, maxLength: 60 }),
  };
  const property = fc.property(fc.record(inputs), ({ taskConcurrency, packs, strategy, choices }) => {
    const model = new Model(
      taskConcurrency,
      packs.map((one) => toPack(one.tasks, one.k)),
      strategy,
    );
    for (let turn = 0; !model.isDone; turn += 1) {
      const moves = model.moves();
      const move = moves[((choices[turn % choices.length] ?? 0) + turn) % Math.max(1, moves.length)];
      if (move === undefined) throw new Error('nothing can happen although the run is not done');
      move();
      if (model.running > taskConcurrency) throw new Error(`${model.running} attempts run at once`);
      if (model.accounted !== taskConcurrency) throw new Error(`${model.accounted} places are accounted for`);
    }
  });
  expect(() => fc.assert(property, { numRuns: 300 })).not.toThrow();
});
