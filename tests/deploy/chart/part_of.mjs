// Prints a part of a rendering of the chart: the configuration file of the service, its file of tenants, or the rules for
// Prometheus as a file of rules.
//
// usage: part_of.mjs RENDERED.yaml config|tenants|rules

import { readFileSync } from 'node:fs';
import { parseAllDocuments, stringify } from 'yaml';

const PARTS = {
  config: (object) => object?.data?.['proofmill.yaml'],
  tenants: (object) => object?.data?.tenants,
  rules: (object) => (object?.kind === 'PrometheusRule' ? stringify(object.spec) : undefined),
};

const [file, part] = process.argv.slice(2);
const objects = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS());
const found = objects.map(PARTS[part]).filter((text) => text !== undefined);
if (found.length !== 1) {
  console.error(`${file}: 1 ${part} expected, got ${found.length}`);
  process.exit(1);
}
process.stdout.write(found[0]);
