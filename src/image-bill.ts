// Prints the image's bill of materials, in a step of the Dockerfile: the gateway's packages, Node,
// and Debian's packages of the base image.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { billText, packages } from './bill-of-materials.ts';
import type { Component } from './bill-of-materials.ts';

const STATUS = '/var/lib/dpkg/status';
const RELEASE = '/etc/os-release';

const bill = packages();
bill.components = [...bill.components, node(), ...debianPackages()];
const given = process.env['SOURCE_DATE_EPOCH'] ?? '';
const digest = createHash('sha256').update(JSON.stringify(bill.components)).digest('hex');
process.stdout.write(billText(bill, digest, /^\d{1,11}$/.test(given) ? Number(given) : undefined));

function node(): Component {
  const version = process.versions.node;
  return { 'bom-ref': `node@${version}`, type: 'application', name: 'node', version, purl: `pkg:generic/node@${version}` };
}

/** From dpkg's own list of what is installed. */
function debianPackages(): Component[] {
  const release = /^VERSION_ID="?(\d+)"?$/m.exec(readFileSync(RELEASE, 'utf8'))?.[1] ?? '';
  return readFileSync(STATUS, 'utf8')
    .split('\n\n')
    .filter((paragraph) => field(paragraph, 'Status')?.endsWith(' installed') === true)
    .map((paragraph): Component => {
      const [name, version, arch] = ['Package', 'Version', 'Architecture'].map((key) => field(paragraph, key) ?? '') as [
        string,
        string,
        string,
      ];
      const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${arch}&distro=debian-${release}`;
      return { 'bom-ref': purl, type: 'library', name, version, purl };
    });
}

function field(paragraph: string, key: string): string | undefined {
  return new RegExp(`^${key}: (.+)$`, 'm').exec(paragraph)?.[1];
}
