/** An error as a command tells it. */
export type FailureText = {
  /** What happened and what to do; may have several lines. */
  readonly message: string;
  /** Stable word for programs. */
  readonly code: string;
  /** Problems of run and suite files, as `config` lists them; null for any other failure. */
  readonly problems: readonly unknown[] | null;
};

/** Errors whose messages were written for the user. Compared by name, so that nothing is loaded for it. */
const SPOKEN: { readonly [name: string]: string } = {
  ConfigError: 'config',
  ClientError: 'client',
  StackError: 'stack',
  StoreError: 'store',
  UsageError: 'usage',
};

const MAX_LINKS = 10;

/** Says an error in a clear sentence, without a stack trace. */
export function describeFailure(error: unknown): FailureText {
  const links = toChain(error);
  const spoken = links.find((link) => link.name in SPOKEN);
  if (spoken !== undefined) {
    const problems =
      'problems' in spoken && Array.isArray(spoken.problems) ? (spoken.problems as unknown[]) : null;
    return { message: spoken.message, code: SPOKEN[spoken.name] ?? 'error', problems };
  }
  for (const link of links) {
    const known = describeSystemError(link);
    if (known !== null) return { ...known, problems: null };
  }
  const text = links.length > 0 ? toOneLine(links[0]?.message ?? '') : toOneLine(String(error));
  const hint = 'This should not have happened. ASSAY_DEBUG=1 shows where it did.';
  return { message: `${text || 'unknown error'}\n${hint}`, code: 'internal', problems: null };
}

/** The error's own account of where it happened, with its causes, for `ASSAY_DEBUG=1`. */
export const toStackText = (error: unknown): string =>
  toChain(error)
    .map((link) => link.stack ?? link.message)
    .join('\ncaused by: ');

type Known = { readonly message: string; readonly code: string };

function describeSystemError(error: Error): Known | null {
  const errno = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const rule = SYSTEM.find(({ codes }) => codes.includes(errno) || codes.includes(error.name));
  if (rule === undefined) return null;
  return { code: rule.code, message: `${rule.what}: ${toOneLine(error.message)}. ${rule.whatToDo}` };
}

type SystemRule = {
  readonly codes: readonly string[];
  readonly code: string;
  what: string;
  whatToDo: string;
};

/** Codes of the operating system and of Postgres (five letters: SQLSTATE), and names of errors of Temporal's SDK. */
const SYSTEM: readonly SystemRule[] = [
  {
    codes: ['ENOSPC', 'EDQUOT'],
    code: 'disk_full',
    what: 'The disk is full',
    whatToDo: 'Free some space, then run the command again.',
  },
  {
    codes: ['53100'],
    code: 'disk_full',
    what: 'The disk of Postgres is full',
    whatToDo: 'Free some space; open runs go on by themselves.',
  },
  {
    codes: ['EACCES', 'EPERM', 'EROFS'],
    code: 'no_access',
    what: 'Access is denied',
    whatToDo: 'Change the owner or the mode, or choose another place.',
  },
  {
    codes: ['ENOENT', 'ENOTDIR', 'EISDIR'],
    code: 'not_found',
    what: 'The path does not lead to such a file',
    whatToDo: 'Check the path.',
  },
  {
    codes: ['EADDRINUSE'],
    code: 'port_in_use',
    what: 'A port is in use',
    whatToDo: 'End the program that has it, or choose another port.',
  },
  {
    codes: ['TransportError', 'ServiceError'],
    code: 'unreachable',
    what: 'Temporal cannot be reached, or refuses the call',
    whatToDo: '`assay doctor` says more.',
  },
  {
    codes: ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', '57P01', '57P03'],
    code: 'unreachable',
    what: 'A service cannot be reached',
    whatToDo: '`assay doctor` says which one and what to do.',
  },
];

function toChain(error: unknown): readonly Error[] {
  const links: Error[] = [];
  let next = error;
  while (next instanceof Error && links.length < MAX_LINKS && !links.includes(next)) {
    links.push(next);
    next = next instanceof AggregateError && next.errors.length > 0 ? next.errors[0] : next.cause;
  }
  return links;
}

const toOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
