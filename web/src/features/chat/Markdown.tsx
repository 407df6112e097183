// Shows the text of a model as Markdown. The text is not trusted: no HTML, no images, and links only to the web.
import { memo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" className="underline decoration-line underline-offset-3 hover:decoration-ink">
      {children}
    </a>
  ),
  // An image is shown as its address in text, because showing the image would fetch the address.
  img: ({ alt, src }) => <span className="text-soft">[{alt || 'picture'}{typeof src === 'string' ? `: ${src}` : ''}]</span>,
  p: ({ children }) => <p className="my-3 first:mt-0 last:mb-0">{children}</p>,
  ul: ({ children }) => <ul className="my-3 list-disc pl-6">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="my-3 list-decimal pl-6">
      {children}
    </ol>
  ),
  // Headings begin at level 3, because the page has headings above them.
  h1: ({ children }) => <h3 className="mt-5 mb-2 text-lg font-semibold">{children}</h3>,
  h2: ({ children }) => <h4 className="mt-5 mb-2 font-semibold">{children}</h4>,
  h3: ({ children }) => <h5 className="mt-4 mb-2 font-semibold">{children}</h5>,
  h4: ({ children }) => <h6 className="mt-4 mb-2 font-semibold">{children}</h6>,
  h5: ({ children }) => <h6 className="mt-4 mb-2 font-semibold">{children}</h6>,
  blockquote: ({ children }) => <blockquote className="my-3 border-l-4 border-line pl-4 text-soft">{children}</blockquote>,
  pre: ({ children }) => (
    <pre tabIndex={0} className="my-3 overflow-x-auto rounded bg-sunk p-3 text-sm">
      {children}
    </pre>
  ),
  code: ({ children, className }) => <code className={`font-mono text-[0.92em] ${className ?? 'rounded-sm'}`}>{children}</code>,
  table: ({ children }) => (
    <div tabIndex={0} className="my-3 overflow-x-auto">
      <table className="border-collapse text-sm">{children}</table>
    </div>
  ),
  th: ({ children }) => <th className="border border-line px-2.5 py-1 text-left font-semibold">{children}</th>,
  td: ({ children }) => <td className="border border-line px-2.5 py-1 align-top">{children}</td>,
  hr: () => <hr className="my-4 border-line" />,
};
const plugins = [remarkGfm];

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <ReactMarkdown components={components} remarkPlugins={plugins}>
      {text}
    </ReactMarkdown>
  );
});
