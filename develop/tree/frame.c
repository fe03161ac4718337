/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "name.h"
#include "util/util.h"

static bool starts(const char *text, const char *prefix)
{
        return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool starts_with_one(const char *text, const char **prefixes)
{
        for (; prefixes && *prefixes; prefixes++)
                if (starts(text, *prefixes))
                        return true;
        return false;
}

/* Is it a version like "GLIBC_2.2.5", which follows a symbol's '@', too? */
static bool is_version(const char *text)
{
        const char *line = strchr(text, '_');

        if (!isupper((unsigned char)*text) || !line || !isdigit((unsigned char)line[1]))
                return false;
        for (; text < line; text++)
                if (!isalnum((unsigned char)*text))
                        return false;
        return true;
}

/* Is it no file, but a line as in "f@/a/x.rb:12", or a method as in "class@anonymous::f" of PHP? */
static bool is_place(const char *text)
{
        const char *colon = strrchr(text, ':');

        return colon && (colon[-1] == ':' || strspn(colon + 1, "0123456789") == strlen(colon + 1));
}

/* The start of the DSO; NULL: there is none. Swift and D have words like "@escaping" in names, after a blank. */
static const char *find_dso(const char *text)
{
        const char *at = strrchr(text, '@');

        return at && at > text && at[1] && !strchr("@ ", at[-1]) && strcmp(at + 1, "plt") != 0 && !is_version(at + 1) &&
                               !is_place(at + 1)
                       ? at + 1
                       : NULL;
}

bool frame_has_dso(const char *text)
{
        return find_dso(text) != NULL;
}

/* Cuts off "_[k]" and the other annotations of stackcollapse-perf and async-profiler. The letter; 0: none. */
static char cut_annotation(char *name)
{
        size_t length = strlen(name);

        if (length <= 4 || name[length - 4] != '_' || name[length - 3] != '[' || name[length - 1] != ']' ||
            !strchr("kijw0123456789", name[length - 2]))
                return '\0';
        name[length - 4] = '\0';
        return name[length - 2];
}

/*
 * A library without its folder, its major version and the rest: "/usr/lib/libgtk-3.so.0" is "libgtk". A file of a
 * module of the kernel is "[ext4]", as where perf does not know the file.
 */
static void read_library(const char *dso, char *library)
{
        /*
         * The C library was several files once, and that of musl is its loader; loaders and the kernel are named by
         * machine or version.
         */
        static const char *const parts[][2] = { { "libpthread", "libc" }, { "librt", "libc" }, { "libdl", "libc" },
                                                { "ld-musl*", "libc" }, { "ld-linux*", "ld" },
                                                { "vmlinux*", "[kernel.kallsyms]" } };
        char *at;

        snprintf(library, FRAME_NAME_MAX, "%s", util_base_name(dso));
        at = strstr(library, ".ko");
        if (at && strchr(".", at[3])) {
                snprintf(library, FRAME_NAME_MAX, "[%.*s]", (int)(at - library), util_base_name(dso));
                for (at = library; (at = strchr(at, '-'));)
                        *at = '_';
        }
        if (*library != '[' && (at = strstr(library, ".so")) && at > library) {
                while (at > library + 1 && (isdigit((unsigned char)at[-1]) || at[-1] == '.'))
                        at--;
                at[at > library + 1 && at[-1] == '-' ? -1 : 0] = '\0';
        }
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
                if (fnmatch(parts[i][0], library, 0) == 0)
                        strcpy(library, parts[i][1]);
        if (starts(library, "libQt") && isdigit((unsigned char)library[5]))
                memmove(library + 5, library + 6, strlen(library + 6) + 1);
}

static bool is_one_of(const char *name, const char *const *list)
{
        for (; *list; list++) {
                if (strchr(*list, '*') ? fnmatch(*list, name, 0) == 0 : strcmp(*list, name) == 0)
                        return true;
        }
        return false;
}

/* Is it a thread, an event loop or a timer of a framework? */
static bool is_carrier(const char *name)
{
        static const char *const carriers[] = {
                /* threads */
                "pthread_create*", "thrd_create", "start_thread", "execute_native_thread_routine",
                "std::thread::_M_start_thread*", "g_thread_new", "g_thread_try_new", "g_thread_proxy",
                "g_thread_pool_*", "g_task_run_in_thread*", "QThread::start*", "QThreadPrivate::start*",
                "QThreadPool*", "uv_thread_create*", "uv__thread_start", "uv_queue_work", "SDL_CreateThread*",
                "SDL_RunThread", "GOMP_parallel*", "gomp_thread_start", "__kmpc_fork_call", "__kmp_*",
                /* GLib and GTK */
                "g_source_attach", "g_timeout_add*", "g_idle_add*", "g_main_loop_run", "g_main_context_*",
                "g_main_dispatch", "g_application_run", "gtk_main", "gtk_main_do_event", "gtk_application_run",
                /* Qt */
                "QCoreApplication::exec*", "QGuiApplication::exec*", "QApplication::exec*", "QEventLoop::exec*",
                "QEventLoop::processEvents*", "QEventDispatcher*::processEvents*", "QTimer::singleShot*",
                /* sd-event, libuv, libev, libevent */
                "sd_event_loop", "sd_event_run", "sd_event_dispatch", "sd_bus_process", "uv_run", "uv__run_*",
                "uv__io_poll", "ev_run", "event_base_loop", "event_base_dispatch",
                /* Python's asyncio, Java, Go */
                "asyncio.run", "asyncio.runners.*", "asyncio.base_events.*", "JLI_Launch", "*java?lang?Thread.run*",
                "*java?util?concurrent?ThreadPoolExecutor*", "*java?util?concurrent?ForkJoin*",
                "*java?util?concurrent?FutureTask.run*", "runtime.main", "runtime.goexit*", NULL
        };

        return is_one_of(name, carriers);
}

static bool is_kernel(const char *dso)
{
        return starts(dso, "[kernel") || starts(dso, "[guest.kernel") || starts(dso, "vmlinux") ||
               starts(dso, "[unknown]") ||
               (*dso == '[' && !starts(dso, "[inlined") && !starts(dso, "[vdso") &&
                !starts(dso, "[vsyscall") && !starts(dso, "[heap") && !starts(dso, "[stack"));
}

/* The class by name alone; FRAME_INHERIT: the name tells nothing. */
static enum frame_class special_class(const char *name)
{
        static const char *const starting[] = { "_start",
                                                "__libc_start_main",
                                                "__libc_start_main_impl",
                                                "__libc_start_call_main",
                                                "__libc_start_main@*",
                                                "start_thread",
                                                "clone",
                                                "clone3",
                                                "__clone",
                                                "__clone3",
                                                "__GI___clone",
                                                "__GI___clone3",
                                                "_dl_start_user",
                                                "(below main)",
                                                NULL };
        static const char *const interrupts[] = { "asm_sysvec_*",
                                                  "sysvec_*",
                                                  "asm_common_interrupt",
                                                  "common_interrupt",
                                                  "asm_exc_nmi",
                                                  "exc_nmi",
                                                  "do_IRQ",
                                                  "do_irq",
                                                  "ret_from_intr",
                                                  "apic_timer_interrupt",
                                                  "smp_apic_timer_interrupt",
                                                  "irq_exit",
                                                  "irq_exit_rcu",
                                                  "__irq_exit_rcu",
                                                  "el0_irq*",
                                                  "el1_irq*",
                                                  "el0t_64_irq*",
                                                  "el1h_64_irq*",
                                                  "gic_handle_irq",
                                                  "__irq_svc",
                                                  "__irq_usr",
                                                  "[interrupt]",
                                                  NULL };
        static const char *const faults[] = { "asm_exc_page_fault",
                                              "exc_page_fault",
                                              "page_fault",
                                              "async_page_fault",
                                              "do_page_fault",
                                              "do_user_addr_fault",
                                              "handle_mm_fault",
                                              "el0_da",
                                              "el0_ia",
                                              "do_mem_abort",
                                              "do_DataAbort",
                                              "do_PrefetchAbort",
                                              "[page fault]",
                                              NULL };
        /* where ARM and RISC-V enter the kernel by faults, calls and interrupts alike */
        static const char *const entries[] = { "el0_sync", "el0_sync_handler", "el0t_64_sync", "el0t_64_sync_handler",
                                               "ret_from_exception", NULL };

        if (is_one_of(name, starting))
                return FRAME_START;
        if (is_one_of(name, interrupts))
                return FRAME_INTERRUPT;
        if (is_one_of(name, entries))
                return FRAME_CALLER;
        return is_one_of(name, faults) ? FRAME_FAULT : FRAME_INHERIT;
}

static bool is_program(const char *dso, const char *program)
{
        const char *base = util_base_name(dso);
        size_t length = strlen(program);

        /* The kernel cuts the name of a process after 15 bytes. */
        return length > 0 && (strcmp(base, program) == 0 || (length == 15 && strncmp(base, program, 15) == 0));
}

/* Is it a file of Python's interpreter? */
static bool is_python(const char *dso)
{
        static const char *const files[] = { "python[0-9]*", "libpython[0-9]*", "sitecustomize.so", NULL };

        return is_one_of(util_base_name(dso), files);
}

/* The interpreter's calls and its loop do the work of Python's functions. */
static enum frame_class python_class(const char *name)
{
        static const char *const loop[] = {
                "main", "Py_*Main", "pymain_*", "_PyRun_*", "PyRun_*", "pyrun_*", "run_mod", "run_eval_code_obj",
                "PyEval_Eval*", "_PyEval_*", "_PyFunction_*", "*[Vv]ectorcall*", "PyObject_Call*", "_PyObject_Call*",
                "_PyObject_MakeTpCall", "_PyObject_FastCall*", "do_call_core", "object_vacall", "evaluate_named",
                "py_trampoline_evaluator", "[unknown]", NULL
        };

        return is_one_of(name, loop) ? FRAME_CALLER : FRAME_FRAMEWORK;
}

bool frame_is_python(const char *text)
{
        return starts(text, "py::");
}

bool frame_is_jit(const char *text)
{
        const char *dso = find_dso(text);

        return dso && strcmp(dso, "[jit]") == 0;
}

static enum frame_class class_of(const char *text, const char *name, const char *dso, char annotation,
                                 const char *program, const struct frame_rules *rules)
{
        if (starts_with_one(text, rules->framework_prefixes))
                return FRAME_FRAMEWORK;
        if (starts_with_one(text, rules->app_prefixes))
                return FRAME_APP;
        if (dso && strcmp(dso, "[jit]") == 0)
                return FRAME_APP;
        if (annotation == 'k' || (dso && is_kernel(dso)))
                return FRAME_FRAMEWORK;
        if (rules->python && dso && is_python(dso))
                return python_class(name);
        for (const char **app = rules->app_dsos; dso && app && *app; app++)
                if (strcmp(*app, dso) == 0 || strcmp(*app, util_base_name(dso)) == 0)
                        return FRAME_APP;
        if (rules->framework_prefixes)
                return FRAME_APP;
        if (rules->app_prefixes)
                return FRAME_FRAMEWORK;
        if (dso ? strcmp(dso, "[inlined]") == 0 : rules->dsos && *text == '[') /* [unknown], [truncated] */
                return FRAME_INHERIT;
        if (dso)
                return is_program(dso, program) ? FRAME_APP : FRAME_FRAMEWORK;
        return FRAME_APP;
}

int frame_read(const char *text, const char *program, const struct frame_rules *rules, struct frame *ret)
{
        char copy[FRAME_NAME_MAX], annotation;
        int err;
        const char *dso;
        enum frame_class special;

        text = *text ? text : "[unknown]";
        snprintf(copy, sizeof(copy), "%s", text);
        for (char *at = copy; (at = strchr(at, '\t'));) /* tabs separate name and DSO in a label */
                *at = ' ';
        annotation = cut_annotation(copy);
        dso = find_dso(copy);
        ret->dso[0] = '\0';
        if (dso) {
                read_library(dso, ret->dso);
                copy[dso - copy - 1] = '\0';
                annotation = annotation ? annotation : cut_annotation(copy);
        }
        memcpy(ret->name, copy, sizeof(copy));
        err = name_clean(ret->name);
        if (err < 0)
                return err;
        ret->class = class_of(strcmp(ret->name, "[unknown]") == 0 ? ret->name : text, ret->name, dso, annotation,
                              program, rules);
        special = special_class(ret->name);
        if (special == FRAME_START ||
            (special != FRAME_INHERIT && (annotation == 'k' || !dso || is_kernel(dso)))) {
                ret->class = special;
                return 0;
        }
        if (ret->class == FRAME_APP) /* the C library may be in its file */
                return name_clean_variant(ret->name);
        err = name_clean_library(ret->name);
        if (ret->class == FRAME_FRAMEWORK && is_carrier(ret->name))
                ret->class = FRAME_CARRIER;
        return err;
}
