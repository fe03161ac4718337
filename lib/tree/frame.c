/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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

/* "GLIBC_2.2.5", which follows a symbol's '@', too. */
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

/* Where the DSO stands; NULL: there is none. */
static const char *find_dso(const char *text)
{
        const char *at = strrchr(text, '@');

        return at && at > text && at[1] && at[-1] != '@' && !is_version(at + 1) ? at + 1 : NULL;
}

bool frame_has_dso(const char *text)
{
        return find_dso(text) != NULL;
}

/* "_[k]" and the others of stackcollapse-perf; its letter, 0: none. */
static char cut_annotation(char *name)
{
        size_t length = strlen(name);

        if (length <= 4 || name[length - 4] != '_' || name[length - 3] != '[' || name[length - 1] != ']' ||
            !strchr("kijw", name[length - 2]))
                return '\0';
        name[length - 4] = '\0';
        return name[length - 2];
}

/* What compilers add to the name of a copy of a function, and what linkers add of its version. */
static void cut_clone(char *name)
{
        static const char *const marks[] = { ".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".llvm.", " [clone ",
                                             ".localalias", "@@" };
        char *at;

        for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
                at = strstr(name + (*name != '\0'), marks[i]);
                if (at)
                        *at = '\0';
        }
        at = strrchr(name, '@');
        if (at && at > name && is_version(at + 1))
                *at = '\0';
}

/* One of the variants of a function among which the loader chooses by CPU: "__memcpy_avx_unaligned_erms". */
static void cut_variant(char *name)
{
        static const char *const words[] = { "avx", "avx2", "avx512", "avx512f", "evex", "evex512", "sse2", "sse3", "ssse3", "sse4",
                                             "sse42", "erms", "rtm", "unaligned", "vzeroupper", "no", "fma", "fma4", "neon",
                                             "sve", "mops", "generic", "back", "fast", "1", "2" };
        size_t length = strlen(name), end = length;
        bool vector = false;

        if (!starts(name, "__"))
                return;
        for (char *at = strrchr(name, '_'); at && at > name + 2; at = strrchr(name, '_')) {
                bool found = false;

                for (size_t i = 0; i < ARRAY_SIZE(words) && !found; i++) {
                        found = strcmp(at + 1, words[i]) == 0;
                        vector |= found && i < 12;
                }
                if (!found)
                        break;
                *at = '\0';
                end = (size_t)(at - name);
        }
        for (size_t i = end; !vector && i < length; i++)
                if (name[i] == '\0')
                        name[i] = '_';
        if (vector)
                memmove(name, name + 2, strlen(name + 2) + 1);
}

static void cut_prefix(char *name, const char *prefix)
{
        size_t length = strlen(prefix);

        if (starts(name, prefix) && name[length])
                memmove(name, name + length, strlen(name + length) + 1);
}

static void cut_suffix(char *name, const char *suffix)
{
        size_t length = strlen(name), cut = strlen(suffix);

        if (length > cut && strcmp(name + length - cut, suffix) == 0)
                name[length - cut] = '\0';
}

/* A library without its folder, its major version and what follows: "/usr/lib/libgtk-3.so.0" is "libgtk". */
static void read_library(const char *dso, char *library)
{
        char *at;

        snprintf(library, FRAME_NAME_MAX, "%s", util_base_name(dso));
        if (*dso == '[' || !(at = strstr(library, ".so")) || at == library)
                return;
        *at = '\0';
        while (at > library + 1 && (isdigit((unsigned char)at[-1]) || at[-1] == '.'))
                *--at = '\0';
        if (at > library + 1 && at[-1] == '-')
                at[-1] = '\0';
        if (starts(library, "libQt") && isdigit((unsigned char)library[5]))
                memmove(library + 5, library + 6, strlen(library + 6) + 1);
}

static bool is_one_of(const char *name, const char *const *list)
{
        for (; *list; list++) {
                size_t length = strlen(*list);

                if ((*list)[length - 1] == '*' ? strncmp(name, *list, length - 1) == 0 : strcmp(name, *list) == 0)
                        return true;
        }
        return false;
}

static bool is_kernel(const char *dso)
{
        return starts(dso, "[kernel") || starts(dso, "[guest.kernel") || starts(dso, "vmlinux") || starts(dso, "[unknown]") ||
               (*dso == '[' && !starts(dso, "[inlined") && !starts(dso, "[vdso") && !starts(dso, "[vsyscall") &&
                !starts(dso, "[heap") && !starts(dso, "[stack"));
}

/* By name alone; FRAME_INHERIT: nothing is known. */
static enum frame_class special_class(const char *name)
{
        static const char *const starting[] = { "_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
                                                "__libc_start_main@*", "start_thread", "clone", "clone3", "__clone", "__clone3",
                                                "__GI___clone", "__GI___clone3", "_dl_start_user", "(below main)", NULL };
        static const char *const interrupts[] = { "asm_sysvec_*", "sysvec_*", "asm_common_interrupt", "common_interrupt",
                                                  "asm_exc_nmi", "exc_nmi", "do_IRQ", "ret_from_intr", "apic_timer_interrupt",
                                                  "smp_apic_timer_interrupt", "irq_exit", "irq_exit_rcu", "__irq_exit_rcu",
                                                  "el0_irq*", "el1_irq*", "el0t_64_irq*", "el1h_64_irq*", "gic_handle_irq",
                                                  "__irq_svc", "__irq_usr", "[interrupt]", NULL };
        static const char *const faults[] = { "asm_exc_page_fault", "exc_page_fault", "page_fault", "async_page_fault",
                                              "do_page_fault", "do_user_addr_fault", "handle_mm_fault", "el0_da", "el0_ia",
                                              "do_mem_abort", "do_DataAbort", "do_PrefetchAbort", "[page fault]", NULL };

        if (is_one_of(name, starting))
                return FRAME_START;
        if (is_one_of(name, interrupts))
                return FRAME_INTERRUPT;
        return is_one_of(name, faults) ? FRAME_FAULT : FRAME_INHERIT;
}

static bool is_program(const char *dso, const char *program)
{
        const char *base = util_base_name(dso);
        size_t length = strlen(program);

        /* The kernel cuts the name of a process after 15 bytes. */
        return length > 0 && (strcmp(base, program) == 0 || (length == 15 && strncmp(base, program, 15) == 0));
}

static enum frame_class class_of(const char *text, const char *dso, char annotation, const char *program,
                                 const struct frame_rules *rules)
{
        if (starts_with_one(text, rules->framework_prefixes))
                return FRAME_FRAMEWORK;
        if (starts_with_one(text, rules->app_prefixes))
                return FRAME_APP;
        if (dso && strcmp(dso, "[jit]") == 0)
                return FRAME_APP;
        if (annotation == 'k' || (dso && is_kernel(dso)))
                return FRAME_FRAMEWORK;
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

/* An app's function without its class or package, and without the app's name: what may be alike in another app. */
static void cut_owner(char *name, const char *program)
{
        size_t length = strlen(program);
        char *end = strchr(name + (*name != '\0'), '('), *start = name;
        int inside = 0;

        if (end && end[-1] != '.') /* main.(*T).Method of Go goes on */
                *end = '\0';
        for (char *at = name; *at; at++) {
                inside += *at == '<';
                inside -= *at == '>' && inside > 0;
                if (inside == 0 && at[1] && (*at == '.' || *at == '/' || (at[0] == ':' && at[1] == ':' && at[2])))
                        start = at + (*at == ':' ? 2 : 1);
        }
        if (start == name && length > 0 && strncmp(name, program, length) == 0 && strchr("_-", name[length]) && name[length] &&
            name[length + 1])
                start = name + length + 1;
        memmove(name, start, strlen(start) + 1);
}

void frame_read(const char *text, const char *program, const struct frame_rules *rules, struct frame *ret)
{
        char copy[FRAME_NAME_MAX], annotation;
        const char *dso;
        enum frame_class special;

        text = *text ? text : "[unknown]";
        snprintf(copy, sizeof(copy), "%s", text);
        for (char *at = copy; (at = strchr(at, '\t'));) /* which parts name and DSO in a label */
                *at = ' ';
        annotation = cut_annotation(copy);
        dso = find_dso(copy);
        ret->dso[0] = '\0';
        if (dso) {
                read_library(dso, ret->dso);
                copy[dso - copy - 1] = '\0';
                annotation = annotation ? annotation : cut_annotation(copy);
        }
        ret->class = class_of(text, dso, annotation, program, rules);
        memcpy(ret->name, copy, sizeof(copy));
        cut_clone(ret->name);
        special = special_class(ret->name);
        if (special == FRAME_START || ((special == FRAME_INTERRUPT || special == FRAME_FAULT) &&
                                       (annotation == 'k' || !dso || is_kernel(dso)))) {
                ret->class = special;
                return;
        }
        if (ret->class == FRAME_APP) {
                cut_owner(ret->name, program);
                return;
        }
        cut_prefix(ret->name, "__GI_");
        cut_prefix(ret->name, "__libc_");
        cut_suffix(ret->name, "_nocancel");
        cut_variant(ret->name);
}
