/** Sections of docs/soak.md that are written by themselves, with the script that writes each. */
const SECTIONS = {
  'long agent': 'soak:agent',
  'large file': 'soak:agent',
  'nothing leaks': 'soak:leaks',
  budgets: 'soak:budget',
  'large run': 'soak:large',
} as const;
type Name = keyof typeof SECTIONS;

const toMarks = (name: Name) => ({
  begin: `<!-- ${name}: begin, written by npm run ${SECTIONS[name]} -->`,
  end: `<!-- ${name}: end -->`,
});

/** A page with this section in the place of the one that it had, else at its end. */
export function replaceSection(page: string, name: Name, section: string): string {
  const { begin, end } = toMarks(name);
  const written = `${begin}\n\n${section}\n\n${end}`;
  const kept = findSection(page, name);
  return kept === null ? `${page.trimEnd()}\n\n${written}\n` : page.replace(kept, () => written);
}

/** The sections of a page with their marks, for a page that is written anew. */
export const listSections = (page: string): readonly string[] =>
  (Object.keys(SECTIONS) as Name[]).flatMap((name) => findSection(page, name) ?? []);

function findSection(page: string, name: Name): string | null {
  const { begin, end } = toMarks(name);
  const from = page.indexOf(begin);
  const upTo = page.indexOf(end);
  return from === -1 || upTo < from ? null : page.slice(from, upTo + end.length);
}
