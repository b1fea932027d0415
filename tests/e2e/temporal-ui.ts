import { chromium, type Page } from 'playwright-core';

/** The Temporal UI in a real browser, as a user walks through it. Open it with `await using`. */
export type TemporalUi = AsyncDisposable & {
  readonly page: Page;
  /** What the page complained of: console errors, exceptions, answers of 400 and more, requests elsewhere. */
  readonly complaints: readonly string[];
  /** Goes to the page of a workflow by its address. */
  readonly open: (workflowId: string) => Promise<void>;
  /** Clicks a link with that workflow's id, and waits for its page. */
  readonly follow: (workflowId: string) => Promise<void>;
  readonly openTab: (name: string) => Promise<void>;
  /** Waits until the page holds a text, in view or not, and returns it. */
  readonly find: (text: string) => Promise<string>;
  /** Waits until the current details of the workflow hold a text, and returns them whole. */
  readonly readDetails: (text: string | RegExp) => Promise<string>;
  /** Ids of the workflows that a list filter finds. */
  readonly list: (query: string) => Promise<readonly string[]>;
};

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** `uiUrl` is the address of the UI without a path. */
export async function openTemporalUi(executablePath: string, uiUrl: string): Promise<TemporalUi> {
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  page.setDefaultTimeout(45_000);
  const workflows = `${uiUrl}/namespaces/default/workflows`;
  const openTab = async (name: string): Promise<void> => {
    await page.getByRole('tab', { name: new RegExp(`^${name}`) }).click();
  };
  // The heading holds the status as well.
  const shown = (workflowId: string): Promise<void> =>
    page
      .getByRole('heading', { name: new RegExp(`${escape(workflowId)}$`) })
      .first()
      .waitFor();
  return {
    page,
    complaints: collectComplaints(page, uiUrl),
    openTab,
    open: async (workflowId) => {
      await page.goto(`${workflows}/${encodeURIComponent(workflowId)}`);
      await shown(workflowId);
    },
    follow: async (workflowId) => {
      await page.getByRole('link', { name: workflowId, exact: true }).first().click();
      await shown(workflowId);
    },
    find: async (text) => {
      await page.getByText(text).first().waitFor({ state: 'attached' });
      return text;
    },
    readDetails: async (text) => {
      await openTab('User Metadata');
      // Markdown is drawn in frames: the summary, then the details, drawn anew as they change.
      const details = page.frameLocator('iframe >> nth=-1');
      await details.getByText(text).first().waitFor();
      return await details.locator('body').innerText();
    },
    list: async (query) => {
      await page.goto(`${workflows}?query=${encodeURIComponent(query)}`);
      const links = page.locator('tbody').getByRole('link', { name: /^run\// });
      await links.first().waitFor();
      return [...new Set(await links.allInnerTexts())];
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

function collectComplaints(page: Page, uiUrl: string): readonly string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  page.on('request', (request) => {
    if (/^https?:/.test(request.url()) && !request.url().startsWith(uiUrl))
      complaints.push(`leaves the machine: ${request.url()}`);
  });
  return complaints;
}
