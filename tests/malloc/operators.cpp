// operators.cpp: new and delete without memory, and in every form. Prints what does not hold.
#include <cstdint>
#include <cstdio>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

static int wrong, handled;

#define HOLDS(what) ((what) ? (void)0 : (void)(std::printf("line %d: not so: %s\n", __LINE__, #what), wrong = 1))

static volatile std::size_t too_much = static_cast<std::size_t>(1) << 62;

struct alignas(128) wide {
    char bytes[300];
};

template <typename F> static bool throws(F f) {
    try {
        f();
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

struct cleaned { // what an exception passes through is cleaned up
    ~cleaned() { handled += 100; }
};

int main() {
    HOLDS(throws([] { cleaned c; (void)::operator new(too_much); }) && handled == 100);
    HOLDS(throws([] { (void)::operator new[](too_much); }));
    HOLDS(throws([] { (void)::operator new(too_much, std::align_val_t(64)); }));
    HOLDS(::operator new(too_much, std::nothrow) == nullptr);
    HOLDS(::operator new[](too_much, std::align_val_t(64), std::nothrow) == nullptr);
    handled = 0;
    std::set_new_handler([] {
        if (++handled == 3)
            throw std::bad_alloc();
    });
    HOLDS(throws([] { (void)::operator new(too_much); }) && handled == 3);
    handled = 0;
    HOLDS(::operator new(too_much, std::nothrow) == nullptr && handled == 3);
    handled = 0;
    HOLDS(::operator new[](too_much, std::align_val_t(256), std::nothrow) == nullptr && handled == 3);
    std::set_new_handler([] { std::set_new_handler(nullptr); });
    HOLDS(throws([] { (void)::operator new[](too_much); }));

    for (std::size_t alignment = 1; alignment <= 8192; alignment *= 2) {
        void *p = ::operator new(100, std::align_val_t(alignment));
        HOLDS(reinterpret_cast<std::uintptr_t>(p) % alignment == 0);
        ::operator delete(p, 100, std::align_val_t(alignment));
        p = ::operator new[](0, std::align_val_t(alignment), std::nothrow);
        HOLDS(p != nullptr);
        ::operator delete[](p, std::align_val_t(alignment), std::nothrow);
    }
    void *p = ::operator new(0);
    HOLDS(p != nullptr);
    ::operator delete(p, std::nothrow);
    p = ::operator new[](77);
    ::operator delete[](p, static_cast<std::size_t>(77));
    ::operator delete(nullptr);
    std::vector<wide> wides(50);
    HOLDS(reinterpret_cast<std::uintptr_t>(wides.data()) % 128 == 0);
    std::map<std::string, std::vector<int>> many;
    for (int i = 0; i < 3000; i++)
        many[std::to_string(i)].resize(static_cast<std::size_t>(i));
    std::vector<std::thread> threads;
    for (int i = 0; i < 50; i++)
        threads.emplace_back([] {
            thread_local std::vector<std::string> kept; // freed by the end of the thread
            for (std::size_t k = 0; k < 200; k++)
                kept.push_back(std::string(k * 7, 'x'));
        });
    for (auto &t : threads)
        t.join();
    return wrong;
}
