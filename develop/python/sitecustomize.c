/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Python's own functions in stacks of `joulecast record`.
 *
 * Python imports a module of this name when it starts. Python 3.12 has a trampoline for each function and writes their
 * names to /tmp/perf-PID.map, once it is told to. In Python 3.11 this module does the same: by PEP 523 it evaluates
 * all frames itself, through a copy of a few instructions for each function, which then stand in the stacks.
 * It knows Python's names only when it is loaded, so it is built without Python and has no dependency.
 * Other versions go on as without it, and so does everything if a step fails.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA_BYTES 65536

/* Python's objects are only passed on. */
typedef void object;

/* PyModuleDef of the stable ABI. */
struct definition {
        intptr_t references;
        object *type;
        object *(*init)(void);
        intptr_t index;
        object *copy;
        const char *name, *doc;
        intptr_t size;
        void *methods, *slots, *traverse, *clear, *free;
};

/* The beginning of _PyInterpreterFrame in 3.11. */
struct frame {
        object *function, *globals, *builtins, *locals, *code;
};

typedef object *evaluate(object *thread, struct frame *frame, int throws);
typedef object *through(object *thread, struct frame *frame, int throws, evaluate *evaluate);

static struct {
        const char *(*version)(void);
        object *(*module_create)(struct definition *, int);
        int (*run)(const char *);
        evaluate *evaluate;
        object *(*interpreter)(void);
        void (*set_evaluate)(object *interpreter, evaluate *evaluate);
        intptr_t (*request_extra)(void (*free)(void *));
        int (*get_extra)(object *code, intptr_t index, void **extra);
        int (*set_extra)(object *code, intptr_t index, void *extra);
        object *(*attribute)(object *, const char *);
        const char *(*text)(object *);
        void (*release)(object *);
        void (*error_take)(object **, object **, object **);
        void (*error_give)(object *, object *, object *);
} python;

struct symbol {
        const char *name;
        void *at;
};

/* All versions of Python have these. */
static const struct symbol common[] = {
        { "Py_GetVersion", &python.version },
        { "PyModule_Create2", &python.module_create },
        { "PyRun_SimpleString", &python.run },
};
static const struct symbol inner[] = {
        { "_PyEval_EvalFrameDefault", &python.evaluate },
        { "PyInterpreterState_Get", &python.interpreter },
        { "_PyInterpreterState_SetEvalFrameFunc", &python.set_evaluate },
        { "_PyEval_RequestCodeExtraIndex", &python.request_extra },
        { "_PyCode_GetExtra", &python.get_extra },
        { "_PyCode_SetExtra", &python.set_extra },
        { "PyObject_GetAttrString", &python.attribute },
        { "PyUnicode_AsUTF8", &python.text },
        { "Py_DecRef", &python.release },
        { "PyErr_Fetch", &python.error_take },
        { "PyErr_Restore", &python.error_give },
};

/* Calls its fourth argument with the first three, and has a frame that unwinders follow. */
#if defined(__x86_64__)
static const unsigned char instructions[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5,
                                              0xff, 0xd1, 0x5d, 0xc3, 0x90, 0x90, 0x90, 0x90 };
#elif defined(__aarch64__)
static const uint32_t instructions[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0060, 0xa8c17bfd, 0xd65f03c0 };
#else
static const unsigned char instructions[] = { 0 };
#endif

static intptr_t extra = -1;
static int map_fd = -1;
static char *arena;
static size_t arena_left;

static int open_map(void)
{
        char path[64];

        snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
        return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* A child of fork() has the same code, and a map of its own. */
static void after_fork(void)
{
        char path[64], text[4096];
        int from, before = map_fd;
        ssize_t n = 0;

        snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getppid());
        from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        map_fd = open_map();
        while (from >= 0 && map_fd >= 0 && (n = read(from, text, sizeof(text))) > 0)
                if (write(map_fd, text, (size_t)n) != n)
                        break;
        if (from >= 0)
                close(from);
        if (before >= 0)
                close(before);
}

static void write_name(const void *code, const char *name, const char *file)
{
        char line[2048];
        int length = snprintf(line, sizeof(line), "%lx %zx py::%s:%s\n", (unsigned long)(uintptr_t)code,
                              sizeof(instructions), name, file);

        if (length > 0 && (size_t)length < sizeof(line) && write(map_fd, line, (size_t)length) != length)
                map_fd = -1; /* no room: functions from here on have no name */
}

static void *new_copy(void)
{
        void *copy;

        if (arena_left < sizeof(instructions)) {
                void *at = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                                -1, 0);

                if (at == MAP_FAILED)
                        return NULL;
                arena = at;
                arena_left = ARENA_BYTES;
        }
        copy = memcpy(arena, instructions, sizeof(instructions));
        __builtin___clear_cache(arena, arena + sizeof(instructions));
        arena += sizeof(instructions);
        arena_left -= sizeof(instructions);
        return copy;
}

/* A generator may go on with an exception, which stays as it is. */
static void *make(object *code)
{
        object *type, *value, *trace, *name, *file;
        void *copy = map_fd < 0 ? NULL : new_copy();

        if (!copy || python.set_extra(code, extra, copy) < 0)
                return NULL;
        python.error_take(&type, &value, &trace);
        name = python.attribute(code, "co_qualname");
        file = python.attribute(code, "co_filename");
        if (name && file && python.text(name) && python.text(file))
                write_name(copy, python.text(name), python.text(file));
        python.release(name);
        python.release(file);
        python.error_give(type, value, trace);
        return copy;
}

static object *evaluate_named(object *thread, struct frame *frame, int throws)
{
        void *copy = NULL;

        if (python.get_extra(frame->code, extra, &copy) < 0 || (!copy && !(copy = make(frame->code))))
                return python.evaluate(thread, frame, throws);
        return ((through *)(uintptr_t)copy)(thread, frame, throws, python.evaluate);
}

static void keep(void *copy)
{
        (void)copy; /* a sample may still show it */
}

static int find(const struct symbol *symbols, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                void *found = dlsym(RTLD_DEFAULT, symbols[i].name);

                if (!found)
                        return -1;
                memcpy(symbols[i].at, &found, sizeof(found));
        }
        return 0;
}

static void name_frames(void)
{
        if (strncmp(python.version(), "3.11.", 5) != 0 || sizeof(instructions) == 1 ||
            find(inner, sizeof(inner) / sizeof(*inner)) < 0)
                return;
        map_fd = open_map();
        extra = map_fd < 0 ? -1 : python.request_extra(keep);
        if (extra < 0)
                return;
        pthread_atfork(NULL, NULL, after_fork);
        python.set_evaluate(python.interpreter(), evaluate_named);
}

/* Python 3.12 and later do it themselves. Then the module of this name that would have been found without us. */
static const char others[] =
        "def _joulecast():\n"
        "    import os, sys\n"
        "    sys.modules.pop('sitecustomize', None)\n"
        "    sys.path[:] = [at for at in sys.path if not os.path.exists(os.path.join(at, 'sitecustomize.so'))]\n"
        "    try:\n"
        "        sys.activate_stack_trampoline('perf')\n"
        "    except (AttributeError, ValueError, OSError):\n"
        "        pass\n"
        "    try:\n"
        "        import sitecustomize\n"
        "    except ImportError:\n"
        "        pass\n"
        "_joulecast()\n"
        "del _joulecast\n";

__attribute__((visibility("default"))) object *PyInit_sitecustomize(void);

object *PyInit_sitecustomize(void)
{
        static struct definition definition = { .references = 1, .name = "sitecustomize", .size = -1 };

        if (find(common, sizeof(common) / sizeof(*common)) < 0)
                return NULL;
        name_frames();
        (void)python.run(others);
        return python.module_create(&definition, 3);
}
