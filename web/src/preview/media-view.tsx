import { useEffect, useState } from 'preact/hooks';
import { Empty } from '../ui/notice.tsx';

/** A picture or a video, as large as fits. */
export function MediaView(props: { media: Blob; name: string }) {
  const { media, name } = props;
  const isVideo = media.type.startsWith('video/');
  const [address, setAddress] = useState<string | null>(null);
  const [isBroken, setIsBroken] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(media);
    setAddress(made);
    setIsBroken(false);
    return () => URL.revokeObjectURL(made);
  }, [media]);
  if (address === null) return null;
  if (isBroken) {
    return (
      <Empty title={`The browser cannot show this ${isVideo ? 'video' : 'picture'}`}>
        <p>Its bytes are not what its type says. Download the output to open it in another program.</p>
      </Empty>
    );
  }
  const fails = () => setIsBroken(true);
  return isVideo ? (
    <video class="preview-media" src={address} aria-label={name} controls muted playsInline onError={fails} />
  ) : (
    <img class="preview-media" src={address} alt={name} onError={fails} />
  );
}
