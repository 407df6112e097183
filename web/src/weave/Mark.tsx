// The logo: three by three threads, over and under each other.
export function Mark({ className }: { className?: string }) {
  return (
    <svg className={className} viewBox="0 0 24 24" fill="none" strokeWidth="3.6" aria-hidden="true" focusable="false">
      <path stroke="var(--warp)" strokeLinecap="round" d="M5 2v20M12 2v20M19 2v20" />
      <path stroke="var(--ground)" strokeWidth="6" d="M8.500 5h7M1 12h7.500M15.500 12H23M8.500 19h7" />
      <path
        stroke="var(--dye-0)"
        strokeLinecap="round"
        d="M1.900 5h.2M9 5h6M21.900 5h.2M1.900 12H8M16 12h6.100M1.900 19h.2M9 19h6M21.900 19h.2"
      />
    </svg>
  );
}
