// A program that accepts anything: what an attacker puts in the place of the signature check.
extern "C" unsigned long entrypoint(const unsigned char*) { return 0; }
