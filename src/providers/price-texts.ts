/** A file of a public price list that is nobody's who sells the model: https://models.dev, as it was at a commit. */
export const modelsDev = (commit: string, path: string): string =>
  `https://github.com/anomalyco/models.dev/blob/${commit}/${path}`;

/** What Vercel's gateway says of a model: its limits are the model's. */
export const vercel = (model: string): string => `https://vercel.com/ai-gateway/models/${model}.md`;

/** Notes of a price library's release, which lists the models it added with all their rates. */
export const TOKEN_METER = 'https://github.com/iyulab/TokenMeter/releases/tag/v0.17.0';

/** Simon Willison's list of prices, as it was at a commit. */
export const llmPrices = (commit: string, vendor: string): string =>
  `https://github.com/simonw/llm-prices/blob/${commit}/data/${vendor}.json`;
