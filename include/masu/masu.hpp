/* masu.hpp: the library as C++ programs ask for memory. C++11; std::pmr from C++17 on. Nothing to link but masu.
 *
 *     std::vector<float, masu::allocator<float>> v;                       the process-wide pool
 *     std::map<K, V, std::less<K>, masu::heap_allocator<…>> m(masu::heap_allocator<…>(heap));
 *     std::vector<T, masu::arena_allocator<T>> w{masu::arena_allocator<T>(arena)};
 *
 *     masu::heap_resource resource(heap);                                 std::pmr::memory_resource, likewise
 *     std::pmr::vector<int> p(&resource);                                 pool_resource, arena_resource
 *
 * Allocators throw std::bad_alloc where there is no memory (std::bad_array_new_length for a count whose bytes cannot be
 * expressed), and give back with the size, which is the fastest way. Any alignment of T is kept. What a heap or an arena
 * serves must not outlive it; memory of an arena comes back with its reset, and deallocate does nothing.
 * Thread safety: as of the pool behind it.
 */
#ifndef MASU_HPP
#define MASU_HPP

#include <masu/masu.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#if __cplusplus >= 201703L && defined(__has_include)
#if __has_include(<memory_resource>)
#include <memory_resource>
#define MASU_HAS_MEMORY_RESOURCE 1
#endif
#endif
#if !defined(__cpp_exceptions)
#include <exception>
#endif

namespace masu {

namespace detail {

[[noreturn]] inline void no_memory() {
#if defined(__cpp_exceptions)
    throw std::bad_alloc();
#else
    std::terminate();
#endif
}

[[noreturn]] inline void no_such_size() {
#if defined(__cpp_exceptions)
    throw std::bad_array_new_length();
#else
    std::terminate();
#endif
}

/* A pool serves no 0 bytes; a container may ask for them. */
inline std::size_t at_least_one(std::size_t bytes) noexcept {
    return bytes != 0 ? bytes : 1;
}

/* Where blocks come from and go: a copy is as good as the original. */
struct process_source {
    static void *take(std::size_t bytes, std::size_t alignment) noexcept {
        if (alignment <= 64)
            return masu_alloc(at_least_one(bytes));
        void *block = nullptr;
        return masu_alloc_aligned(at_least_one(bytes), alignment, &block) == MASU_OK ? block : nullptr;
    }
    static void give(void *block, std::size_t bytes, std::size_t alignment) noexcept {
        if (alignment <= 64)
            (void)masu_free(block, at_least_one(bytes));
        else
            (void)masu_free_aligned(block, at_least_one(bytes), alignment);
    }
    bool operator==(const process_source &) const noexcept { return true; }
};

struct heap_source {
    masu_heap *heap; /* borrowed */
    void *take(std::size_t bytes, std::size_t alignment) const noexcept {
        void *block = nullptr;
        return masu_heap_alloc(heap, at_least_one(bytes), alignment, &block) == MASU_OK ? block : nullptr;
    }
    void give(void *block, std::size_t bytes, std::size_t) const noexcept {
        (void)masu_heap_free(heap, block, at_least_one(bytes));
    }
    bool operator==(const heap_source &other) const noexcept { return heap == other.heap; }
};

struct arena_source {
    masu_arena *arena; /* borrowed */
    void *take(std::size_t bytes, std::size_t alignment) const noexcept {
        return masu_arena_alloc(arena, at_least_one(bytes), alignment);
    }
    void give(void *, std::size_t, std::size_t) const noexcept {}
    bool operator==(const arena_source &other) const noexcept { return arena == other.arena; }
};

/* What the standard calls an allocator, over one of them. */
template <class T, class Source>
class basic_allocator {
public:
    using value_type = T;
    using propagate_on_container_copy_assignment = std::true_type;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;
    using is_always_equal = std::is_empty<Source>;
    template <class U>
    struct rebind {
        using other = basic_allocator<U, Source>;
    };

    template <class S = Source, class = typename std::enable_if<std::is_empty<S>::value>::type>
    basic_allocator() noexcept : source_() {}
    explicit basic_allocator(Source source) noexcept : source_(source) {}
    template <class U>
    basic_allocator(const basic_allocator<U, Source> &other) noexcept : source_(other.source()) {}

    T *allocate(std::size_t count) {
        if (count > SIZE_MAX / sizeof(T))
            no_such_size();
        void *block = source_.take(count * sizeof(T), alignof(T));
        if (block == nullptr)
            no_memory();
        return static_cast<T *>(block);
    }
    void deallocate(T *block, std::size_t count) noexcept {
        source_.give(static_cast<void *>(block), count * sizeof(T), alignof(T));
    }
    const Source &source() const noexcept { return source_; }

private:
    Source source_;
};

template <class T, class U, class Source>
bool operator==(const basic_allocator<T, Source> &a, const basic_allocator<U, Source> &b) noexcept {
    return a.source() == b.source();
}
template <class T, class U, class Source>
bool operator!=(const basic_allocator<T, Source> &a, const basic_allocator<U, Source> &b) noexcept {
    return !(a == b);
}

} // namespace detail

/* The process-wide pool. */
template <class T>
using allocator = detail::basic_allocator<T, detail::process_source>;

/* A heap, or an arena, that the caller owns. */
template <class T>
class heap_allocator : public detail::basic_allocator<T, detail::heap_source> {
    using base = detail::basic_allocator<T, detail::heap_source>;

public:
    template <class U>
    struct rebind {
        using other = heap_allocator<U>;
    };
    explicit heap_allocator(masu_heap *heap) noexcept : base(detail::heap_source{heap}) {}
    template <class U>
    heap_allocator(const heap_allocator<U> &other) noexcept : base(other.source()) {}
};

template <class T>
class arena_allocator : public detail::basic_allocator<T, detail::arena_source> {
    using base = detail::basic_allocator<T, detail::arena_source>;

public:
    template <class U>
    struct rebind {
        using other = arena_allocator<U>;
    };
    explicit arena_allocator(masu_arena *arena) noexcept : base(detail::arena_source{arena}) {}
    template <class U>
    arena_allocator(const arena_allocator<U> &other) noexcept : base(other.source()) {}
};

#if defined(MASU_HAS_MEMORY_RESOURCE)

namespace detail {

template <class Source>
class basic_resource : public std::pmr::memory_resource {
public:
    explicit basic_resource(Source source = Source()) noexcept : source_(source) {}

private:
    void *do_allocate(std::size_t bytes, std::size_t alignment) override {
        void *block = source_.take(bytes, alignment);
        if (block == nullptr)
            no_memory();
        return block;
    }
    void do_deallocate(void *block, std::size_t bytes, std::size_t alignment) override {
        source_.give(block, bytes, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override {
        const auto *same = dynamic_cast<const basic_resource *>(&other);
        return same != nullptr && same->source_ == source_;
    }
    Source source_;
};

} // namespace detail

using pool_resource = detail::basic_resource<detail::process_source>;

class heap_resource : public detail::basic_resource<detail::heap_source> {
public:
    explicit heap_resource(masu_heap *heap) noexcept : basic_resource(detail::heap_source{heap}) {}
};

class arena_resource : public detail::basic_resource<detail::arena_source> {
public:
    explicit arena_resource(masu_arena *arena) noexcept : basic_resource(detail::arena_source{arena}) {}
};

#endif

} // namespace masu

#endif
