import type { ButtonHTMLAttributes } from 'react';

type Look = 'primary' | 'quiet' | 'small';

const looks: Record<Look, string> = {
  primary:
    'bg-weld text-on-weld px-7 py-3.5 text-lg font-semibold rounded-md shadow-[inset_0_-3px_0_rgb(0_0_0/0.16)] hover:bg-weld-deep active:translate-y-px disabled:opacity-55',
  quiet: 'border border-line bg-panel text-ink px-6 py-3 text-base font-semibold rounded-md hover:border-ink active:translate-y-px disabled:opacity-55',
  small: 'border border-line text-ink px-3 py-1.5 text-sm font-medium rounded hover:border-ink disabled:opacity-55',
};

export function Button({ look = 'quiet', className = '', ...rest }: ButtonHTMLAttributes<HTMLButtonElement> & { look?: Look }) {
  return <button type="button" className={`${looks[look]} transition-colors ${className}`} {...rest} />;
}
