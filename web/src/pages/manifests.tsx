import { useState } from 'preact/hooks';
import { ManifestEditor } from '../admin/manifest-editor.tsx';
import type { PublishedFeature } from '../admin-api.ts';
import { listFeatures } from '../admin-api.ts';
import { plural } from '../format.ts';
import { useResource, useTitle } from '../hooks.ts';
import { Ago } from '../ui/ago.tsx';
import { RowButton } from '../ui/buttons.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';

/** The published manifests of features, and the editor to check and publish one. */
export function ManifestsPage() {
  useTitle('Manifests');
  const list = useResource('features', listFeatures);
  const [edited, setEdited] = useState<{ feature: string | null } | null>(null);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Manifests</h1>
        <button type="button" class="button button-primary" onClick={() => setEdited({ feature: null })}>
          <Icon name="upload" />
          Publish a manifest
        </button>
      </div>
      <Loaded of={list} failure="The manifests could not be listed." rows={3} label="Loading manifests">
        {(features) =>
          features.length === 0 ? (
            <Empty title="No manifests yet">
              <p>
                A manifest registers your own runner types and node templates, for use in session templates.
                Built-in nodes need none.
              </p>
            </Empty>
          ) : (
            <ul class="cards">
              {features.map((feature) => (
                <FeatureCard
                  key={feature.name}
                  feature={feature}
                  onEdit={() => setEdited({ feature: feature.name })}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {edited !== null && (
        <ManifestEditor feature={edited.feature} published={list.reload} onClose={() => setEdited(null)} />
      )}
    </div>
  );
}

function FeatureCard({ feature, onEdit }: { feature: PublishedFeature; onEdit: () => void }) {
  return (
    <li class="card">
      <div class="card-head">
        <div>
          <h2>
            {feature.name}
            <span class="tag">{feature.version}</span>
          </h2>
          <p class="faint">
            published <Ago at={feature.publishedAt} />
            {` · ${plural(feature.runnerTypes.length, 'runner type', 'runner types')} · `}
            {plural(feature.nodeTemplates.length, 'node template', 'node templates')}
          </p>
        </div>
        <RowButton label={`Manifest of ${feature.name}`} onClick={onEdit}>
          <Icon name="manifests" />
          Manifest
        </RowButton>
      </div>
      <div class="feature-parts">
        <FeaturePart
          title="Runner types"
          items={feature.runnerTypes.map((type) => ({
            ...type,
            about:
              type.runtime === 'sdk'
                ? `started by the platform: ${type.entrypoint ?? 'no module'}`
                : 'external',
          }))}
        />
        <FeaturePart
          title="Node templates"
          items={feature.nodeTemplates.map((node) => ({
            ...node,
            about: `${node.type}, ${node.runnerType}`,
          }))}
        />
      </div>
    </li>
  );
}

function FeaturePart(props: {
  title: string;
  items: { name: string; about: string; description: string; retired: boolean }[];
}) {
  return (
    <section>
      <h3>{props.title}</h3>
      {props.items.length === 0 && <p class="faint">None.</p>}
      <ul class="feature-list">
        {props.items.map((item) => (
          <li key={item.name}>
            <span class="mono feature-name">{item.name}</span>
            {item.retired && <span class="tag">retired</span>}
            <div class="faint">
              {item.about}
              {item.description === '' ? '' : `: ${item.description}`}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
