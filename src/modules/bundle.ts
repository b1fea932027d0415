import { readFileSync } from 'node:fs';
import { findPackageJSON, isBuiltin } from 'node:module';
import { basename, dirname, join, posix, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildFailure, Metafile } from 'esbuild';
import { toDigest } from '../config/digest.ts';
import { ConfigError, toProblem } from '../config/problem.ts';
import { createLineSource } from '../config/source.ts';
import { findProject } from './find-project.ts';

/** A module and everything that it imports by path, as one text. */
export type BundledModule = {
  readonly code: string;
  /** SHA-256 of the code. */
  readonly digest: string;
  readonly projectDir: string;
  /** The module in its project, with `/`. */
  readonly path: string;
};

/** Files that modules import as text beside those that the bundler knows. */
const TEXT_FILES = { '.md': 'text', '.jsonl': 'text', '.csv': 'text' } as const;

/**
 * Bundles a TypeScript or JavaScript module; packages stay outside. Equal sources give equal bytes wherever they
 * lie. Throws `ConfigError` with every import that leads nowhere and every syntax error.
 */
export async function bundleModule(file: string): Promise<BundledModule> {
  const entry = resolve(file);
  const projectDir = findProject(dirname(entry));
  const { code, metafile } = await build(entry, { file, projectDir });
  findMissingPackages(metafile, { file, entry, projectDir });
  return {
    code,
    digest: toDigest(Buffer.from(code)),
    projectDir,
    path: relative(projectDir, entry).split(sep).join('/'),
  };
}

type Place = { readonly file: string; readonly projectDir: string };

async function build(entry: string, place: Place): Promise<{ code: string; metafile: Metafile }> {
  const esbuild = await import('esbuild');
  try {
    const { outputFiles, metafile } = await esbuild.build({
      entryPoints: [entry],
      // Never written; source maps and comments name paths relative to these two.
      outfile: join(dirname(entry), `${basename(entry)}.bundle.mjs`),
      absWorkingDir: place.projectDir,
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      packages: 'external',
      sourcemap: 'inline',
      sourcesContent: false,
      legalComments: 'none',
      charset: 'utf8',
      loader: TEXT_FILES,
      logLevel: 'silent',
    });
    return { code: outputFiles[0]?.text ?? '', metafile };
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    throw new ConfigError(
      error.errors.map(({ text, location }) => {
        const name = location === null ? place.file : toShown(location.file, place);
        const source = createLineSource(name, location?.line ?? 1, location?.lineText ?? '');
        const column = (location?.column ?? 0) + 1;
        const at = location === null ? null : { line: location.line, column };
        return toProblem({ ...source, locate: () => at }, { path: [], message: toMessage(text) });
      }),
    );
  }
}

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && 'errors' in error && Array.isArray(error.errors);

/** The bundler's advice is about itself. */
const toMessage = (text: string): string => {
  const missing = /^Could not resolve "([^"]+)"/.exec(text)?.[1];
  return missing === undefined
    ? text
    : `the import "${missing}" leads to no file: correct the path, or write the file`;
};

/** A file of the project as the user would name it: relative to where the run file was named from. */
const toShown = (inProject: string, { file, projectDir }: Place): string => {
  const path = resolve(projectDir, inProject);
  if (path === resolve(file)) return file;
  return posix.join(dirname(file).split(sep).join('/'), relative(dirname(resolve(file)), path));
};

/** Assay itself is always there; its own entry is used whatever the project has installed. */
export const OWN_NAME = 'assay';

type Entry = Place & { readonly entry: string };

/** Every import of a package that is not installed, at the line that names it. Nothing is run for that. */
function findMissingPackages(metafile: Metafile, { entry, ...place }: Entry): void {
  const missing = Object.entries(metafile.inputs).flatMap(([input, { imports }]) =>
    imports
      .filter(({ external, path }) => external === true && !isThere(path, entry))
      .map(({ path }) => ({ input, specifier: path })),
  );
  if (missing.length === 0) return;
  throw new ConfigError(
    missing.map(({ input, specifier }) => {
      const source = locateImport(specifier, { input, ...place });
      const name = toPackageName(specifier);
      const message = `the package "${name}" is not installed for this file (looked for from ${place.projectDir}): run "npm install ${name}" there, or remove the import`;
      return toProblem(source, { path: [], message, got: specifier });
    }),
  );
}

function isThere(specifier: string, entry: string): boolean {
  if (isBuiltin(specifier) || toPackageName(specifier) === OWN_NAME) return true;
  if (specifier.startsWith('#') || URL.canParse(specifier)) return true;
  try {
    return findPackageJSON(specifier, pathToFileURL(entry)) !== undefined;
  } catch {
    return false;
  }
}

const toPackageName = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

function locateImport(specifier: string, { input, ...place }: Place & { readonly input: string }) {
  const lines = readFileSync(resolve(place.projectDir, input), 'utf8').split(/\r?\n/);
  const quoted = [`'${specifier}'`, `"${specifier}"`, `\`${specifier}\``];
  const index = lines.findIndex((line) => quoted.some((text) => line.includes(text)));
  const line = lines[index] ?? '';
  const column = Math.max(0, ...quoted.map((text) => line.indexOf(text))) + 1;
  const source = createLineSource(toShown(input, place), index + 1, line);
  return { ...source, locate: () => (index === -1 ? null : { line: index + 1, column }) };
}
