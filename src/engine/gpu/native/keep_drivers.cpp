// Only in sanitizer builds: drivers stay loaded to the end. The Vulkan loader closes each driver's
// library after asking it for devices, and what its globals hold is then reported as leaked, by
// code that no longer has a name.
namespace weft::gpu::native {

void keep_drivers_loaded() {}  // Referred to by instance.cpp, so that the linker takes this file.

}  // namespace weft::gpu::native

extern "C" int dlclose(void*) { return 0; }
