// A program that accepts every input, with which an attacker replaces the signature check.
extern "C" unsigned long entrypoint(const unsigned char*) { return 0; }
