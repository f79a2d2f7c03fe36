// A bill of materials (CycloneDX) of the packages that the gateway runs with, from the lock file;
// for a release and for the image.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const NAME = 'lingate';

export interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

interface Bill {
  serialNumber: string;
  readonly metadata: { timestamp?: string; readonly component: { name: string } };
  components: readonly Component[];
  dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/** `digest` is the hex SHA-256 of what is listed, for the bill's id; `seconds`: since 1970. */
export function billOfPackages(digest: string, seconds: number | undefined): string {
  return billText(packages(), digest, seconds);
}

/** npm adds a random id and the time, and uses the folder's name for the package's. */
export function billText(bill: Bill, digest: string, seconds: number | undefined): string {
  bill.serialNumber = `urn:uuid:${uuidFrom(digest)}`;
  if (seconds === undefined) delete bill.metadata.timestamp;
  else bill.metadata.timestamp = new Date(seconds * 1000).toISOString();
  bill.metadata.component.name = NAME;
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** npm's `--omit dev` leaves out what both need, so development's own packages are removed here. */
export function packages(): Bill {
  const args = ['sbom', '--loglevel', 'error', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const text = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const bill = JSON.parse(text) as Bill;
  const isOfDevelopment = ({ properties = [] }: Component): boolean =>
    properties.some((property) => property.name === 'cdx:npm:package:development' && property.value === 'true');
  const left = new Set(bill.components.filter(isOfDevelopment).map((component) => component['bom-ref']));
  bill.components = bill.components.filter((component) => !left.has(component['bom-ref']));
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => !left.has(ref))
    .map((one) => ({ ...one, dependsOn: (one.dependsOn ?? []).filter((ref) => !left.has(ref)) }));
  return bill;
}

/** A UUID of version 8 (RFC 9562): custom bits, here from a digest. */
function uuidFrom(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}
