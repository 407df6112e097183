// Explains to a visitor what happens to a machine that contributes, as numbered steps.
const steps = [
  ['It runs in the sandbox', 'Work arrives as WebGPU shaders or built-in kernels, inside what this browser allows a page. A new shader first runs on a native worker, within a time limit.'],
  ['It is checked', 'Others compute the same piece, or parts of it are computed again. What agrees is accepted; a wrong byte earns nothing.'],
  ['It is paid', "The client's credits wait in escrow until then. They go to a wallet that is made in this browser and stays here."],
] as const;

export function HowItWorks() {
  return (
    <section aria-labelledby="how-title">
      <h2 id="how-title" className="text-xl font-semibold tracking-tight">
        What happens when you press it
      </h2>
      <ol className="mt-4 grid gap-6 sm:grid-cols-3">
        {steps.map(([title, text]) => (
          <li key={title} className="border-t-2 border-ink pt-3">
            <h3 className="font-semibold">{title}</h3>
            <p className="mt-1 text-[0.95rem] text-soft">{text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}
