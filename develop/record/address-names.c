/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "address-names.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <gelf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "frame-name.h"
#include "perf-map.h"
#include "util/util.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <uthash.h>

/* Code without a file may be other code at another time. */
struct named_key {
        uint64_t address;
        const char *code; /* in the perf map; NULL: none */
};

struct named {
        struct named_key key;
        UT_hash_handle hh;
        bool lost;
        size_t n;
        struct frame frames[];
};

struct address_names {
        struct words *words;
        struct places *places;
        struct named *list;
        pid_t pid;
        struct perf_map *perf_map; /* NULL: not read, or there is none */
        bool perf_map_tried;
        size_t perf_map_known; /* how long it was at the time that is asked for */
};

/* Where an address is. */
struct site {
        uint64_t address;
        const struct mapping *mapping; /* NULL: none has it */
        const char *file;              /* NULL: none */
        Dwfl_Module *module;           /* NULL: there is no such file, or it cannot be read */
        const char *code;              /* the name in the perf map, where there is no file; NULL: none */
};

int address_names_new(struct words *words, struct places *places, struct address_names **ret)
{
        struct address_names *names = calloc(1, sizeof(*names));

        if (!names)
                return -ENOMEM;
        names->words = words;
        names->places = places;
        *ret = names;
        return 0;
}

void address_names_forget(struct address_names *names)
{
        struct named *named, *next;

        HASH_ITER(hh, names->list, named, next) {
                HASH_DEL(names->list, named);
                free(named);
        }
}

void address_names_free(struct address_names *names)
{
        if (!names)
                return;
        address_names_forget(names);
        perf_map_free(names->perf_map);
        free(names);
}

void address_names_set_pid(struct address_names *names, pid_t pid)
{
        perf_map_free(names->perf_map);
        names->perf_map = NULL;
        names->perf_map_tried = false;
        names->perf_map_known = SIZE_MAX;
        names->pid = pid;
}

void address_names_set_known(struct address_names *names, size_t known)
{
        names->perf_map_known = known;
}

/* Where an interpreter or a JIT wrote what it made. */
static const char *jit_name(struct address_names *names, uint64_t address)
{
        if (!names->perf_map_tried) {
                names->perf_map_tried = true;
                (void)perf_map_load(names->pid, &names->perf_map); /* most have none */
        }
        return names->perf_map ? perf_map_find(names->perf_map, address, names->perf_map_known) : NULL;
}

/*
 * A function of several names (write, __write, __libc_write) has that with the fewest underscores in front,
 * then the first one, as files with and without debug information list them in other orders.
 */
static const char *best_alias(Dwfl_Module *module, const char *name, GElf_Addr address)
{
        int n = *name == '_' && name[1] != 'Z' ? dwfl_module_getsymtab(module) : 0; /* C++ has no such names */

        for (int i = 1; i < n; i++) {
                GElf_Sym symbol;
                GElf_Addr at;
                const char *other = dwfl_module_getsym_info(module, i, &symbol, &at, NULL, NULL, NULL);

                if (!other || at != address || symbol.st_shndx == SHN_UNDEF ||
                    GELF_ST_TYPE(symbol.st_info) == STT_SECTION || !*other)
                        continue;
                if (strspn(other, "_") < strspn(name, "_") ||
                    (strspn(other, "_") == strspn(name, "_") && strcmp(other, name) < 0))
                        name = other;
        }
        return name;
}

static bool is_file(const char *path)
{
        return (*path == '/' || strcmp(path, "[vdso]") == 0) && strncmp(path, "//anon", 6) != 0;
}

static struct site find_site(struct address_names *names, uint64_t address,
                             const struct mapping *mapping, Dwfl *dwfl)
{
        struct site site = { .address = address, .mapping = mapping };
        const char *path = mapping ? words_bytes(names->words, mapping->path, NULL) : "";

        if (is_file(path)) {
                site.file = path;
                site.module = dwfl_addrmodule(dwfl, address);
        } else {
                site.code = jit_name(names, address);
        }
        return site;
}

/* @begin: the address of the function; 0: unknown. */
static int name_of(struct address_names *names, const struct site *site, uint32_t *ret, uint64_t *begin)
{
        const char *function = NULL;
        char name[FRAME_NAME_MAX];
        GElf_Off offset = 0;
        GElf_Sym symbol;
        int64_t number;

        if (site->module)
                function = dwfl_module_addrinfo(site->module, site->address, &offset, &symbol, NULL, NULL, NULL);
        *begin = function ? site->address - offset : 0;
        if (function)
                function = best_alias(site->module, function, *begin);
        if (!site->file)
                function = site->code;
        frame_name(function, site->file ? site->file : function ? FRAME_CODE : "[anonymous]", name, sizeof(name));
        number = words_number(names->words, name, strlen(name));
        if (number < 0)
                return (int)number;
        *ret = (uint32_t)number;
        return 0;
}

static bool is_app(const struct address_names *names, const struct site *site, uint32_t name)
{
        return site->file ? site->mapping->app : strstr(words_bytes(names->words, name, NULL), "@" FRAME_CODE) != NULL;
}

static int make_frame(struct address_names *names, const struct site *site, struct frame *ret)
{
        struct place *place;
        uint64_t begin;
        int err = name_of(names, site, &ret->name, &begin);

        if (err)
                return err;
        place = places_at(names->places, ret->name);
        if (!place)
                return -ENOMEM;
        place->app |= is_app(names, site, ret->name);
        if (!place->known && begin && begin >= site->mapping->from) {
                place->known = true;
                place->path = site->mapping->path;
                place->offset = begin - site->mapping->from + site->mapping->offset;
        }
        ret->app = place->app;
        return 0;
}

/* It has no address of its own: it can be in many places, and there is nothing to probe. */
static int make_inlined(struct address_names *names, const char *symbol, const struct site *site, struct frame *ret)
{
        char name[FRAME_NAME_MAX];
        struct place *place;
        int64_t number;

        frame_name(symbol, site->file, name, sizeof(name));
        number = words_number(names->words, name, strlen(name));
        place = number < 0 ? NULL : places_at(names->places, (uint32_t)number);
        if (!place)
                return -ENOMEM;
        place->app |= site->mapping->app;
        *ret = (struct frame){ (uint32_t)number, place->app };
        return 0;
}

/* Functions that a compiler put into others, where debug information tells of them. */

#define INLINED_MAX 32 /* within each other; the outermost that are more are lost */

static const char *function_name(Dwarf_Die *function)
{
        Dwarf_Attribute attribute;

        if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute) ||
            dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attribute) ||
            dwarf_attr_integrate(function, DW_AT_name, &attribute))
                return dwarf_formstring(&attribute);
        return NULL;
}

/* The scopes around the code are not those around the abstract function that dwarf_getscopes() goes on with. */
static int code_scopes(Dwfl_Module *module, uint64_t address, Dwarf_Die **ret)
{
        Dwarf_Addr bias;
        Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias), *scopes = NULL, innermost;
        int n = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;

        if (n <= 0)
                return 0;
        innermost = scopes[0];
        free(scopes);
        scopes = NULL;
        n = dwarf_getscopes_die(&innermost, &scopes);
        *ret = scopes;
        return n;
}

/*
 * inlined_names() - the inlined functions at an address
 * @names: their symbols, or names where they have none, the innermost first; valid as long as @module. The
 *         function that has the address in the symbol table is not among them.
 *
 * Return: how many; 0 also without debug information.
 */
static size_t inlined_names(Dwfl_Module *module, uint64_t address, const char *names[INLINED_MAX])
{
        Dwarf_Die *scopes = NULL;
        int count = code_scopes(module, address, &scopes);
        size_t n = 0;

        for (int i = 0; i < count && n < INLINED_MAX && dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++) {
                const char *name = NULL;

                if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine)
                        name = function_name(&scopes[i]);
                if (name)
                        names[n++] = name;
        }
        free(scopes);
        return n;
}

static int make_named(struct address_names *names, const struct site *site, struct named **ret)
{
        const char *inlined[INLINED_MAX];
        size_t n = site->module ? inlined_names(site->module, site->address, inlined) : 0;
        struct named *named = calloc(1, sizeof(*named) + (n + 1) * sizeof(*named->frames));
        int err = named ? 0 : -ENOMEM;

        for (size_t i = 0; !err && i < n; i++)
                err = make_inlined(names, inlined[i], site, &named->frames[i]);
        if (!err)
                err = make_frame(names, site, &named->frames[n]);
        if (err) {
                free(named);
                return err;
        }
        named->key.address = site->address;
        named->key.code = site->code;
        named->n = n + 1;
        *ret = named;
        return 0;
}

int address_names_find(struct address_names *names, uint64_t address, const struct mapping *mapping, Dwfl *dwfl,
                       const struct frame **ret, size_t *n)
{
        const struct site site = find_site(names, address, mapping, dwfl);
        const struct named_key key = { address, site.code };
        struct named *named;

        HASH_FIND(hh, names->list, &key, sizeof(key), named);
        if (!named) {
                int err = make_named(names, &site, &named);

                if (err)
                        return err;
                HASH_ADD(hh, names->list, key, sizeof(named->key), named);
                if (named->lost) {
                        free(named);
                        return -ENOMEM;
                }
        }
        *ret = named->frames;
        *n = named->n;
        return 0;
}
