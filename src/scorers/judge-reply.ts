import { scanJson } from './json-scan.ts';
import { readVerdict, type Scale, type Verdict } from './judge-scale.ts';

/** What a judge's reply says, or why nothing can be read in it. */
export type ReadReply =
  | ({ readonly kind: 'verdict'; readonly reason: string } & Verdict)
  | { readonly kind: 'unreadable'; readonly why: string };

export type Reply = {
  readonly text: string;
  /** It ended at the limit of output. */
  readonly isCut: boolean;
  readonly scale: Scale;
  /** What was judged, as it was and as the judge saw it: words that stand there are not the judge's own. */
  readonly judged: readonly string[];
};

const KEYS = ['verdict', 'score', 'grade'] as const;
const REASON_LIMIT = 1_000;

/**
 * Reads the verdict of a reply. One that keeps to the form is taken as it stands; else it is repaired: a verdict by
 * itself, objects within other text, lines such as `Verdict: pass`. What is quoted from the judged text does not
 * count, several statements must agree, and a verdict outside the scale is none.
 */
export function readReply(reply: Reply): ReadReply {
  const text = unwrap(reply.text.trim());
  const whole = parseObject(text);
  if (whole !== null) return decide(reply, [whole]);
  const alone = readVerdict(reply.scale, text);
  if (alone !== null && !reply.isCut) return { kind: 'verdict', ...alone, reason: '' };
  if (text === '') return { kind: 'unreadable', why: 'the reply is empty' };
  if (reply.isCut) return { kind: 'unreadable', why: 'the reply was cut off at the limit of output' };
  const judged = reply.judged.map(squeeze);
  const { objects, rest } = splitObjects(text);
  const own = [...objects, ...listLines(rest)].filter(
    ({ source }) => !judged.some((seen) => seen.includes(squeeze(source))),
  );
  return decide(reply, own);
}

/** Something in a reply that states a verdict. */
type Statement = {
  readonly source: string;
  readonly given: readonly unknown[];
  /** A key stands twice in it: a parser would drop the first. */
  readonly isTwice: boolean;
  readonly reason: string;
};

function decide({ scale }: Reply, statements: readonly Statement[]): ReadReply {
  const given = statements.flatMap((statement) => statement.given);
  if (statements.some(({ isTwice }) => isTwice))
    return { kind: 'unreadable', why: 'the reply states its verdict twice' };
  if (given.length === 0) return { kind: 'unreadable', why: 'the reply states no verdict' };
  const verdicts = given.map((one) => readVerdict(scale, one));
  const outside = verdicts.indexOf(null);
  if (outside >= 0) return { kind: 'unreadable', why: `${show(given[outside])} is no verdict of the scale` };
  const [first, ...others] = verdicts.filter((one) => one !== null);
  if (first === undefined || others.some(({ verdict }) => verdict !== first.verdict))
    return { kind: 'unreadable', why: 'the reply states two different verdicts' };
  const reason = statements.map((one) => one.reason).find((one) => one !== '') ?? '';
  return { kind: 'verdict', ...first, reason: reason.slice(0, REASON_LIMIT) };
}

const show = (given: unknown): string => (JSON.stringify(given) ?? 'nothing').slice(0, 60);

/** The inside of a fenced block that is the whole reply. */
const unwrap = (text: string): string =>
  /^(`{3,})[^\n`]*\n([\s\S]*)\n\s*\1$/u.exec(text)?.[2]?.trim() ?? text;

function parseObject(source: string): Statement | null {
  if (!source.startsWith('{')) return null;
  try {
    return toStatement(source, JSON.parse(source) as { readonly [key: string]: unknown });
  } catch {
    return null;
  }
}

function toStatement(source: string, value: { readonly [key: string]: unknown }): Statement {
  const { reason } = value;
  const keys = KEYS.filter((key) => Object.hasOwn(value, key));
  return {
    source,
    given: keys.map((key) => value[key]),
    isTwice: keys.some((key) => source.split(`"${key}"`).length > 2),
    reason: typeof reason === 'string' ? reason : '',
  };
}

/** The objects of a text that state something, and the text without any object. */
function splitObjects(text: string): { readonly objects: readonly Statement[]; readonly rest: string } {
  const objects: Statement[] = [];
  const rest: string[] = [];
  let from = 0;
  for (let at = text.indexOf('{'); at >= 0;) {
    const scan = scanJson(text, at);
    if (scan.kind === 'cut') break;
    const end = scan.kind === 'whole' ? scan.end : at + 1;
    const statement = scan.kind === 'whole' ? parseObject(text.slice(at, end)) : null;
    if (statement !== null && statement.given.length > 0) objects.push(statement);
    rest.push(text.slice(from, scan.kind === 'whole' ? at : end));
    from = end;
    at = text.indexOf('{', end);
  }
  return { objects, rest: [...rest, text.slice(from)].join('\n') };
}

const LINE =
  /^[^\p{L}\p{N}\n{]*(?:(?:my|the|final|overall)\s+)*(?:verdict|grade|score)\b[^\p{L}\p{N}\n.+-]*?[:=]\s*(.{1,80})$/gimu;

/** The end of a line may be that of a broken object. */
const listLines = (text: string): readonly Statement[] =>
  [...text.matchAll(LINE)].map((match) => ({
    source: match[0],
    given: [(match[1] ?? '').replace(/[\s,}]+$/u, '')],
    isTwice: false,
    reason: '',
  }));

const squeeze = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/[\s|>*`_]+/gu, '')
    .toLowerCase();
