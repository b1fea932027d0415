export type XmlElement = {
  readonly name: string;
  readonly attributes: { readonly [name: string]: string };
  readonly children: readonly XmlElement[];
  readonly text: string;
};

/** Reads the XML that reports write, as strictly as a parser of XML 1.0: throws on anything that is not well-formed. */
export function readXml(source: string): XmlElement {
  // oxlint-disable-next-line no-control-regex
  if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(source))
    throw new Error('a character that XML cannot hold');
  const body = source.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '');
  if (body === source) throw new Error('no XML declaration');
  const tokens = body.matchAll(/<(\/?)([A-Za-z][\w.-]*)((?: [A-Za-z]\w*="[^"<]*")*)(\/?)>|([^<]+)|(<)/gs);
  const root = { name: '', attributes: {}, children: [] as XmlElement[], text: '' };
  const open: { name: string; attributes: object; children: XmlElement[]; text: string }[] = [root];
  for (const [, end, name = '', attributes = '', empty, text, stray] of tokens) {
    const top = open.at(-1)!;
    if (stray !== undefined) throw new Error('a stray <');
    if (text !== undefined) top.text += decode(text);
    else if (end === '/') {
      if (top.name !== name) throw new Error(`</${name}> closes <${top.name}>`);
      open.pop();
    } else {
      const element = { name, attributes: toAttributes(attributes), children: [], text: '' };
      top.children.push(element as XmlElement);
      if (empty !== '/') open.push(element);
    }
  }
  if (open.length !== 1 || root.children.length !== 1 || root.text.trim() !== '')
    throw new Error('not one element that is closed');
  return root.children[0]!;
}

function toAttributes(text: string): { [name: string]: string } {
  const found = [...text.matchAll(/ (\w+)="([^"]*)"/g)].map(
    ([, name, value]) => [name!, decode(value!)] as const,
  );
  if (new Set(found.map(([name]) => name)).size !== found.length) throw new Error('an attribute twice');
  return Object.fromEntries(found);
}

const NAMED: { readonly [name: string]: string } = {
  'amp;': '&',
  'lt;': '<',
  'gt;': '>',
  'quot;': '"',
};

function decode(text: string): string {
  if (text.includes(']]>')) throw new Error(']]> in text');
  return text.replaceAll(/&([^&;\s]*;?)/g, (_, reference: string) => {
    const code = /^#(\d+);$/.exec(reference)?.[1];
    const read = code === undefined ? NAMED[reference] : String.fromCodePoint(Number(code));
    if (read === undefined) throw new Error(`&${reference} is no reference`);
    return read;
  });
}
