/* containers.cpp: containers of C++ on the pools, as a user writes them; C++11, and std::pmr from C++17 on. */
#include <masu/masu.hpp>

#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define REQUIRE(condition)                                      \
    do {                                                        \
        if (!(condition)) {                                     \
            std::printf("line %d: %s\n", __LINE__, #condition); \
            return 1;                                           \
        }                                                       \
    } while (0)

namespace {

struct alignas(256) wide {
    float of[64];
};

bool is_aligned(const void *ptr, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(ptr) % alignment == 0;
}

masu_heap_stats stats_of(const masu_heap *heap) {
    masu_heap_stats s;
    masu_heap_get_stats(heap, &s);
    return s;
}

int process_pool() {
    std::vector<int, masu::allocator<int>> numbers;
    for (int i = 0; i < 100000; i++)
        numbers.push_back(i);
    REQUIRE(numbers[99999] == 99999 && is_aligned(numbers.data(), 64));
    std::vector<wide, masu::allocator<wide>> aligned(3);
    REQUIRE(is_aligned(aligned.data(), 256));
    std::list<std::string, masu::allocator<std::string>> words(10, "rice");
    auto moved = std::move(words);
    REQUIRE(moved.size() == 10 && moved.back() == "rice");
    auto shared = std::allocate_shared<int>(masu::allocator<int>(), 7);
    REQUIRE(*shared == 7);
    REQUIRE(masu::allocator<int>() == masu::allocator<char>());
    return 0;
}

int refusals() {
#if defined(__cpp_exceptions)
    bool told = false;
    try {
        (void)masu::allocator<double>().allocate(SIZE_MAX / 4);
    } catch (const std::bad_array_new_length &) {
        told = true;
    }
    REQUIRE(told);
    told = false;
    try {
        (void)masu::allocator<char>().allocate(SIZE_MAX / 2);
    } catch (const std::bad_alloc &) {
        told = true;
    }
    REQUIRE(told);
#endif
    return 0;
}

int heap_of_its_own() {
    masu_heap *first = nullptr, *second = nullptr;
    REQUIRE(masu_heap_create(nullptr, &first) == MASU_OK && masu_heap_create(nullptr, &second) == MASU_OK);
    {
        using pair = std::pair<const int, int>;
        using table = std::map<int, int, std::less<int>, masu::heap_allocator<pair>>;
        table squares{masu::heap_allocator<pair>(first)};
        for (int i = 0; i < 1000; i++)
            squares[i] = i * i;
        REQUIRE(squares[31] == 961 && stats_of(first).live_blocks == 1000 && stats_of(second).live_blocks == 0);
        table other{masu::heap_allocator<pair>(second)};
        other = squares; /* the allocator comes along */
        REQUIRE(other.get_allocator() == squares.get_allocator() && stats_of(first).live_blocks == 2000);
        REQUIRE(masu::heap_allocator<int>(first) != masu::heap_allocator<int>(second));
    }
    REQUIRE(stats_of(first).live_blocks == 0);
    REQUIRE(masu_heap_destroy(first) == MASU_OK && masu_heap_destroy(second) == MASU_OK);
    return 0;
}

int arena_for_a_step() {
    masu_arena *arena;
    REQUIRE(masu_arena_create(nullptr, &arena) == MASU_OK);
    for (int step = 0; step < 3; step++) {
        {
            std::vector<wide, masu::arena_allocator<wide>> v{masu::arena_allocator<wide>(arena)};
            v.resize(static_cast<std::size_t>(100 + step));
            REQUIRE(is_aligned(v.data(), 256));
        }
        masu_arena_reset(arena);
    }
    masu_arena_stats stats;
    masu_arena_get_stats(arena, &stats);
    REQUIRE(stats.used_bytes == 0 && stats.resets == 3);
    REQUIRE(masu_arena_destroy(arena) == MASU_OK);
    return 0;
}

#if defined(MASU_HAS_MEMORY_RESOURCE)
int resources() {
    masu_heap *heap;
    masu_arena *arena = nullptr;
    REQUIRE(masu_heap_create(nullptr, &heap) == MASU_OK && masu_arena_create(nullptr, &arena) == MASU_OK);
    {
        masu::heap_resource on_heap(heap), again(heap);
        masu::arena_resource on_arena(arena);
        masu::pool_resource on_pool;
        REQUIRE(on_heap.is_equal(again) && !on_heap.is_equal(on_arena) && on_pool.is_equal(masu::pool_resource()));
        std::pmr::vector<std::pmr::string> words(&on_heap);
        for (int i = 0; i < 100; i++)
            words.emplace_back("a word that is too long to lie within the string itself");
        REQUIRE(stats_of(heap).live_blocks > 100);
        std::pmr::map<int, int> squares(&on_pool);
        squares[3] = 9;
        std::pmr::vector<int> numbers(1000, 5, &on_arena);
        REQUIRE(numbers.back() == 5 && squares.at(3) == 9);
        void *block = on_pool.allocate(0);
        REQUIRE(block != nullptr);
        on_pool.deallocate(block, 0);
        block = on_pool.allocate(100, 4096);
        REQUIRE(is_aligned(block, 4096));
        on_pool.deallocate(block, 100, 4096);
    }
    REQUIRE(masu_arena_destroy(arena) == MASU_OK && masu_heap_destroy(heap) == MASU_OK);
    return 0;
}
#else
int resources() { return 0; }
#endif

} // namespace

int main() {
    masu_heap_config config = masu_heap_config_default();
    config.guarded = true;
    masu_heap *heap = nullptr;
    void *block = nullptr;
    REQUIRE(masu_heap_create(&config, &heap) == MASU_OK);
    REQUIRE(masu_heap_alloc_at(heap, 100, 0, MASU_HERE, &block) == MASU_OK);
    REQUIRE(masu_heap_free_at(heap, block, 100, MASU_HERE) == MASU_OK && masu_heap_destroy(heap) == MASU_OK);
    if (process_pool() || refusals() || heap_of_its_own() || arena_for_a_step() || resources())
        return 1;
    std::printf("containers served\n");
    return 0;
}
