import { redactPatterns } from '../domain/redact.ts';
import type { ReportCell, ReportRows } from '../domain/report-rows.ts';
import { describeCell } from './failures.ts';
import type { Note, Report } from './report-schema.ts';
import { toXmlAttribute, toXmlText } from './xml-text.ts';

/**
 * A run as JUnit XML, for CI: a suite for each request and model, a test for each cell. A wrong answer is a failure;
 * what kept a cell from a score is an error; what never ran is skipped. Gates that were not met are failures of a
 * suite of their own, so that the file says what the exit code says.
 */
export function formatJunit({ cells }: ReportRows, report: Report): string {
  const groups = [...Map.groupBy(cells, toSuiteName)];
  const properties = report.notes.filter(({ code }) => code === 'reuse' || code === 'mismatch');
  const suites = groups.map(([name, own]) => toSuite({ name, tests: own.map(toTest), properties }));
  const gates = toGateSuite(report);
  const all = [...suites, ...(gates === null ? [] : [gates])];
  const counts = addUp(all.map((suite) => suite.counts));
  // The root has no count of skipped tests: strict readers refuse one.
  const open = `<testsuites name=${toXmlAttribute(report.run.name)}${toAttributes(counts)}>`;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    open,
    ...all.map(({ xml }) => xml),
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

type Counts = { tests: number; failures: number; errors: number; skipped: number; timeMs: number };

type Test = {
  readonly name: string;
  readonly className: string;
  readonly timeMs: number;
  readonly end: {
    readonly kind: 'failure' | 'error' | 'skipped';
    readonly type: string;
    readonly message: string;
  } | null;
};

const toSuiteName = ({ requestName, modelId }: ReportCell): string => `${requestName} / ${modelId}`;

function toTest(cell: ReportCell): Test {
  const failed = describeCell(cell);
  return {
    name: cell.attempt === 1 ? cell.caseId : `${cell.caseId} [attempt ${cell.attempt}]`,
    className: toSuiteName(cell),
    timeMs: cell.latencyMs ?? 0,
    end:
      failed === null
        ? null
        : {
            kind: toKind(failed.outcome),
            type: failed.code ?? failed.outcome,
            message: redactPatterns(failed.message),
          },
  };
}

function toKind(outcome: string): 'failure' | 'error' | 'skipped' {
  if (outcome === 'wrong') return 'failure';
  return outcome === 'skipped' || outcome === 'not_run' ? 'skipped' : 'error';
}

function toGateSuite({ gateFailures }: Report): Suite | null {
  if (gateFailures.length === 0) return null;
  const tests = gateFailures.map(({ gate, requestName, modelId, message }): Test => ({
    name: `${gate}: ${requestName} / ${modelId}`,
    className: 'gates',
    timeMs: 0,
    end: { kind: 'failure', type: gate, message },
  }));
  return toSuite({ name: 'gates', tests });
}

type Suite = { readonly xml: string; readonly counts: Counts };

function toSuite({
  name,
  tests,
  properties = [],
}: {
  readonly name: string;
  readonly tests: readonly Test[];
  readonly properties?: readonly Note[];
}): Suite {
  const count = (kind: string): number => tests.filter(({ end }) => end?.kind === kind).length;
  const counts = {
    tests: tests.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    timeMs: tests.reduce((sum, { timeMs }) => sum + timeMs, 0),
  };
  const open = `  <testsuite name=${toXmlAttribute(name)}${toAttributes(counts)} skipped="${counts.skipped}">`;
  const lines = [open, ...toProperties(properties), ...tests.map(toTestXml), '  </testsuite>'];
  return { xml: lines.join('\n'), counts };
}

const toProperties = (notes: readonly Note[]): readonly string[] =>
  notes.length === 0
    ? []
    : [
        '    <properties>',
        ...notes.map(
          ({ code, text }) => `      <property name=${toXmlAttribute(code)} value=${toXmlAttribute(text)}/>`,
        ),
        '    </properties>',
      ];

function toTestXml({ name, className, timeMs, end }: Test): string {
  const open = `    <testcase classname=${toXmlAttribute(className)} name=${toXmlAttribute(name)} time="${toSeconds(timeMs)}"`;
  if (end === null) return `${open}/>`;
  const [firstLine = ''] = end.message.split('\n');
  const message = toXmlAttribute(firstLine.slice(0, 300).toWellFormed());
  const body =
    end.kind === 'skipped'
      ? `<skipped message=${message}/>`
      : `<${end.kind} type=${toXmlAttribute(end.type)} message=${message}>${toXmlText(end.message)}</${end.kind}>`;
  return `${open}>${body}</testcase>`;
}

const toAttributes = ({ tests, failures, errors, timeMs }: Counts): string =>
  ` tests="${tests}" failures="${failures}" errors="${errors}" time="${toSeconds(timeMs)}"`;

const toSeconds = (timeMs: number): string => (timeMs / 1000).toFixed(3);

function addUp(all: readonly Counts[]): Counts {
  const total = { tests: 0, failures: 0, errors: 0, skipped: 0, timeMs: 0 };
  for (const counts of all) {
    total.tests += counts.tests;
    total.failures += counts.failures;
    total.errors += counts.errors;
    total.skipped += counts.skipped;
    total.timeMs += counts.timeMs;
  }
  return total;
}
