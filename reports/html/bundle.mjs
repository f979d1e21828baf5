// Makes the one page of HTML reports: page.html with the style, the chart library and the script
// inlined, and a content security policy that names the hash of each, so that nothing else runs and
// nothing is loaded.
//
//   node bundle.mjs NODE_MODULES OUTPUT
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const [, , modules, output] = process.argv;

/** A file's text as it may stand inside <script> or <style>. */
function inlined(path) {
  const text = readFileSync(path, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/gm, '')
    .replace(/^ *\/\/@include (\S+)$/gm, (_, part) => readFileSync(part, 'utf8')).trim();
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${path} would end its element early`);
  return `\n${text}\n`;
}

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const style = inlined('report.css');
const scripts = [inlined(`${modules}/chart.js/dist/chart.umd.min.js`), inlined('report.js')];
const policy = `default-src 'none'; style-src ${hash(style)}; style-src-attr 'unsafe-inline'; ` +
  `script-src ${scripts.map(hash).join(' ')}; img-src data:; base-uri 'none'; form-action 'none'`;

// Functions as replacements: a string's "$&" would be read as a pattern.
const page = readFileSync('page.html', 'utf8')
  .replace('<!--policy-->', () => policy)
  .replace('<!--style-->', () => `<style>${style}</style>`)
  .replace('<!--scripts-->', () => scripts.map((text) => `<script>${text}</script>`).join('\n'));
writeFileSync(output, page);
