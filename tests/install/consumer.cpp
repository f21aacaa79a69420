// The same from C++17: the headers' declarations link, and their structs are plain values.
#include <sherd/sherd.h>
#include <sherd/sys/backend.h>

#include <iostream>
#include <memory>
#include <string>

int main()
{
	sherd_error err{};
	sherd_store *opened = nullptr;
	if (sherd_version() != std::string(SHERD_VERSION)) {
		std::cerr << "consumer: headers " << SHERD_VERSION << ", library " << sherd_version() << '\n';
		return 1;
	}
	if (sherd_store_open_memory(&opened, &err) != SHERD_OK) {
		std::cerr << "consumer: " << err.message << '\n';
		return 1;
	}
	std::unique_ptr<sherd_store, void (*)(sherd_store *)> store(opened, sherd_store_close);
	sherd_stat stat{};
	if (sherd_store_stat(&stat, store.get(), "nothing", &err) != SHERD_ENOTFOUND || err.code != SHERD_ENOTFOUND) {
		std::cerr << "consumer: an empty store has something in it\n";
		return 1;
	}
	std::cout << "sherd " << sherd_version() << '\n';
	return 0;
}
