/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Unwinds by libdwfl from files, as the process has ended; registers and stack are those of a sample. */

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "frame-name.h"
#include "space.h"
#include "util/util.h"

struct space {
        struct words *words;
        struct places *places;
        struct address_names *names;
        struct mapping *list; /* ascending */
        size_t n, capacity;
        uint32_t program; /* path of the program: a number of the words */
        bool has_program;
        pid_t pid;

        Dwfl *dwfl; /* NULL: not made since the mappings changed */
        const struct sample_stack *stack; /* the stack that is being unwound */
        uint64_t pc[SPACE_FRAMES_MAX];
        bool activation[SPACE_FRAMES_MAX];
        size_t n_pc;
        int anchor;  /* number of the anchor at which unwinding ended; -1: none */
        bool beyond; /* the unwinding needed more of the stack than there is */
};

int space_new(struct words *words, struct places *places, struct space **ret)
{
        _cleanup_(space_freep) struct space *space = calloc(1, sizeof(*space));
        int err = space ? address_names_new(words, places, &space->names) : -ENOMEM;

        if (err)
                return err;
        space->words = words;
        space->places = places;
        *ret = TAKE_PTR(space);
        return 0;
}

static void forget_code(struct space *space)
{
        address_names_forget(space->names);
        if (space->dwfl)
                dwfl_end(space->dwfl);
        space->dwfl = NULL;
}

void space_clear(struct space *space)
{
        forget_code(space);
        address_names_set_pid(space->names, space->pid);
        space->n = 0;
        space->has_program = false;
}

void space_free(struct space *space)
{
        if (!space)
                return;
        forget_code(space);
        address_names_free(space->names);
        free(space->list);
        free(space);
}

int space_copy(const struct space *from, struct space **ret)
{
        _cleanup_(space_freep) struct space *space = NULL;
        int err = space_new(from->words, from->places, &space);

        if (!err)
                err = util_grow(&space->list, &space->capacity, from->n, sizeof(*space->list));
        if (err)
                return err;
        if (from->n > 0)
                memcpy(space->list, from->list, from->n * sizeof(*space->list));
        space->n = from->n;
        space->program = from->program;
        space->has_program = from->has_program;
        *ret = TAKE_PTR(space);
        return 0;
}

void space_set_pid(struct space *space, pid_t pid)
{
        space->pid = pid;
        address_names_set_pid(space->names, pid);
}

void space_set_known(struct space *space, size_t known)
{
        address_names_set_known(space->names, known);
}

/* May it be a file with functions, and no memory that a JIT fills, as "//anon" and "[heap]"? */
static bool is_file(const char *path)
{
        return (*path == '/' && path[1] != '/') || strcmp(path, "[vdso]") == 0;
}

int space_map(struct space *space, uint64_t from, uint64_t length, uint64_t offset, const char *path)
{
        int64_t number = words_number(space->words, path, strlen(path));
        uint64_t to = from + length;
        size_t kept = 0, at = 0;
        bool changes = is_file(path);

        if (number < 0)
                return (int)number;
        if (to <= from)
                return 0;
        for (size_t i = 0; i < space->n; i++) { /* drops mappings that the new one overlaps, even in part */
                struct mapping one = space->list[i];

                if (one.from < to && from < one.to) {
                        changes |= is_file(words_bytes(space->words, one.path, NULL));
                        continue;
                }
                if (one.from < from)
                        at = kept + 1;
                space->list[kept++] = one;
        }
        space->n = kept;
        if (util_grow(&space->list, &space->capacity, space->n + 1, sizeof(*space->list)) < 0)
                return -ENOMEM;
        if (!space->has_program) {
                space->program = (uint32_t)number;
                space->has_program = true;
        }
        memmove(&space->list[at + 1], &space->list[at], (space->n - at) * sizeof(*space->list));
        space->list[at] = (struct mapping){ from, to, offset, (uint32_t)number, (uint32_t)number == space->program };
        space->n++;
        if (changes) /* JITs map memory often, and files take long to read again */
                forget_code(space);
        return 0;
}

static const struct mapping *find_mapping(const struct space *space, uint64_t address)
{
        for (size_t i = 0; i < space->n; i++)
                if (address >= space->list[i].from && address < space->list[i].to)
                        return &space->list[i];
        return NULL;
}

/*
 * Difference between the addresses of a mapped ELF file and those written in it, by its part at @mapping's offset.
 * -ENOENT also for another mapping of a program with fixed addresses, for which libdwfl would drop its module.
 */
static int find_bias(int fd, const struct mapping *mapping, uint64_t *ret)
{
        Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
        GElf_Ehdr head;
        size_t n = 0;
        int err = -ENOENT;

        if (!elf || elf_getphdrnum(elf, &n) < 0)
                n = 0;
        for (size_t i = 0; err && i < n; i++) {
                GElf_Phdr header;
                uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;

                if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD || !(header.p_flags & PF_X))
                        continue;
                if (mapping->offset < (header.p_offset & ~page) || mapping->offset >= header.p_offset + header.p_filesz)
                        continue;
                *ret = mapping->from - (header.p_vaddr - header.p_offset + mapping->offset);
                err = *ret == 0 || (gelf_getehdr(elf, &head) && head.e_type != ET_EXEC) ? 0 : -ENOENT;
        }
        if (elf)
                elf_end(elf);
        return err;
}

/* The kernel's own code for programs is the same for all. */
static int vdso_file(void)
{
        const char *image = (const char *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
        int fd = image ? memfd_create("vdso", MFD_CLOEXEC) : -1;
        size_t bytes = 2 * (size_t)sysconf(_SC_PAGESIZE);

        if (fd >= 0 && write(fd, image, bytes / 2) < 0)
                closep(&fd);
        return fd;
}

static int open_code(const char *path)
{
        struct stat status;
        int fd = strcmp(path, "[vdso]") == 0 ? vdso_file() :
                 *path == '/'                ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) :
                                               -1;

        if (fd >= 0 && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)))
                closep(&fd);
        return fd;
}

/* A file that cannot be read, or is no ELF file, has no module, and its code is [unknown]. */
static void report(struct space *space, const struct mapping *mapping)
{
        const char *path = words_bytes(space->words, mapping->path, NULL);
        int fd = open_code(path);
        uint64_t bias;

        if (fd < 0)
                return;
        if (find_bias(fd, mapping, &bias) < 0 ||
            !dwfl_report_elf(space->dwfl, path, *path == '/' ? path : "/dev/null", fd, bias, true))
                close(fd);
}

static pid_t next_thread(Dwfl *dwfl, void *data, void **thread)
{
        struct space *space = data;

        if (*thread)
                return 0;
        *thread = space;
        return space->stack->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *data, void **thread)
{
        *thread = data;
        return true;
}

/*
 * Is it in the kernel's page for probes? The first instructions of functions with a probe run there, and functions with
 * a probe on their return return to it.
 */
static bool is_probe_page(const struct space *space, uint64_t address)
{
        const struct mapping *mapping = find_mapping(space, address);

        return mapping && strcmp(words_bytes(space->words, mapping->path, NULL), "[uprobes]") == 0;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *data)
{
        const struct space *space = data;
        const struct sample_stack *stack = space->stack;
        uint64_t from = stack->registers[REGISTERS_SP], word;

        if (address < from || address - from > stack->n_bytes || stack->n_bytes - (address - from) < sizeof(word)) {
                /* libdw takes a return address that it cannot read for the end of the stack. */
                ((struct space *)data)->beyond = true;
                return false;
        }
        memcpy(&word, stack->bytes + (address - from), sizeof(word));
        *ret = stack->anchors && stack->anchors->back && is_probe_page(space, word) ? stack->anchors->back : word;
        return true;
}

static bool set_registers(Dwfl_Thread *thread, void *data)
{
        const struct sample_stack *stack = ((struct space *)data)->stack;
        Dwarf_Word registers[REGISTERS_DWARF_COUNT] = { 0 };

        for (size_t i = 0; i < REGISTERS_COUNT; i++)
                if (registers_dwarf[i] < REGISTERS_DWARF_COUNT)
                        registers[registers_dwarf[i]] = stack->registers[i];
        dwfl_thread_state_register_pc(thread, stack->registers[REGISTERS_PC]);
        return dwfl_thread_state_registers(thread, 0, REGISTERS_DWARF_COUNT, registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
        .next_thread = next_thread,
        .get_thread = get_thread,
        .memory_read = read_memory,
        .set_initial_registers = set_registers,
};

static int open_dwfl(struct space *space)
{
        static const Dwfl_Callbacks callbacks = {
                .find_elf = dwfl_build_id_find_elf,
                .find_debuginfo = dwfl_standard_find_debuginfo,
                .section_address = dwfl_offline_section_address,
        };

        space->dwfl = dwfl_begin(&callbacks);
        if (!space->dwfl)
                return -ENOMEM;
        dwfl_report_begin(space->dwfl);
        for (size_t i = 0; i < space->n; i++)
                if (i == 0 || space->list[i].path != space->list[i - 1].path)
                        report(space, &space->list[i]);
        dwfl_report_end(space->dwfl, NULL, NULL);
        if (!dwfl_attach_state(space->dwfl, NULL, space->pid > 0 ? space->pid : 1, &thread_callbacks, space)) {
                forget_code(space);
                return -ENOEXEC;
        }
        return 0;
}

static uint64_t function_begin(const struct space *space, uint64_t address)
{
        Dwfl_Module *module = dwfl_addrmodule(space->dwfl, address);
        const struct mapping *mapping = find_mapping(space, address);
        GElf_Off offset = 0;
        GElf_Sym symbol;

        if (module && dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL))
                return address - offset;
        return mapping ? mapping->from : 0;
}

/* Number of the anchor that the frame at @pc is, which called the frame that was kept last; -1: none. */
static int find_anchor(const struct space *space, Dwfl_Frame *state, uint64_t pc)
{
        const struct anchors *anchors = space->stack->anchors;
        Dwarf_Word sp;

        if (!anchors || anchors->n == 0 || dwfl_frame_reg(state, registers_dwarf[REGISTERS_SP], &sp) != 0)
                return -1;
        for (size_t i = anchors->n; i > 0; i--) {
                const struct anchor *anchor = &anchors->list[i - 1];

                if (anchor->sp == sp &&
                    (anchor->back ? function_begin(space, pc) == function_begin(space, anchor->back) :
                                    space->n_pc > 0))
                        return (int)i - 1;
        }
        return -1;
}

static int keep_frame(Dwfl_Frame *state, void *data)
{
        struct space *space = data;
        Dwarf_Addr pc;

        if (space->n_pc == SPACE_FRAMES_MAX || !dwfl_frame_pc(state, &pc, &space->activation[space->n_pc]))
                return DWARF_CB_ABORT;
        space->anchor = pc != 0 ? find_anchor(space, state, pc) : -1;
        if (pc != 0 && (space->anchor < 0 || space->stack->anchors->list[space->anchor].back))
                space->pc[space->n_pc++] = pc;
        return space->anchor < 0 ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static bool is_function(const struct space *space, const struct frame *frame, const char *name)
{
        return strncmp(words_bytes(space->words, frame->name, NULL), name, strlen(name)) == 0;
}

/*
 * Do the frames end at a function that starts the loader, main() or a thread? Such functions do not always say that
 * they are the first, and libdw takes a stack of one frame for one that failed. In a stripped file _start has no name.
 */
static bool is_start(const struct space *space, const struct frame *frames, size_t n)
{
        for (size_t i = n > 2 ? n - 2 : 0; i < n; i++)
                if (is_function(space, &frames[i], "__libc_start_main@"))
                        return true;
        return is_function(space, &frames[n - 1], "_start@") || is_function(space, &frames[n - 1], "clone3@") ||
               is_function(space, &frames[n - 1], "clone@");
}

/* Adds frames; successive frames of one file without names become one. False: there is no room for all. */
static bool add_frames(const struct space *space, const struct frame *frames, size_t n_frames,
                       struct frame ret[SPACE_FRAMES_MAX], size_t *n)
{
        for (size_t i = 0; i < n_frames; i++) {
                const struct frame *frame = &frames[i];

                if (*n > 0 && ret[*n - 1].name == frame->name &&
                    frame_is_unknown(words_bytes(space->words, frame->name, NULL)))
                        continue;
                if (*n == SPACE_FRAMES_MAX)
                        return false;
                ret[(*n)++] = *frame;
        }
        return true;
}

/*
 * The same code in the file's first mapping, if only that has a module: V8 maps its built-in functions once more,
 * beside the code that it makes. @mapping: in and out.
 */
static uint64_t first_address(const struct space *space, uint64_t address, const struct mapping **mapping)
{
        const struct mapping *here = *mapping;
        const char *path = here ? words_bytes(space->words, here->path, NULL) : "";
        uint64_t offset = here ? address - here->from + here->offset : 0;

        for (size_t i = 0; is_file(path) && !dwfl_addrmodule(space->dwfl, address) && &space->list[i] != here; i++) {
                const struct mapping *one = &space->list[i];

                if (one->path == here->path && offset >= one->offset && offset - one->offset < one->to - one->from) {
                        *mapping = one;
                        return one->from + (offset - one->offset);
                }
        }
        return address;
}

static int unwind(struct space *space, const struct sample_stack *stack, struct unwound *ret)
{
        int err = space->dwfl ? 0 : open_dwfl(space);

        ret->n = space->n_pc = 0;
        space->stack = stack;
        space->beyond = false;
        space->anchor = -1;
        ret->whole = !err && dwfl_getthread_frames(space->dwfl, stack->tid, keep_frame, space) == 0 &&
                     !space->beyond && space->n_pc > 1;
        ret->anchor = space->anchor;
        if (space->n_pc == 0) {
                space->pc[0] = stack->registers[REGISTERS_PC];
                space->activation[0] = true;
                space->n_pc = 1;
        }
        for (size_t i = 0; i < space->n_pc; i++) {
                uint64_t address = space->pc[i] - (i > 0 && !space->activation[i]);
                const struct mapping *mapping = find_mapping(space, address);
                const struct frame *frames;
                size_t n;

                address = first_address(space, address, &mapping);
                err = address_names_find(space->names, address, mapping, space->dwfl, &frames, &n);
                if (err)
                        return err;
                ret->whole &= add_frames(space, frames, n, ret->frames, &ret->n);
        }
        ret->whole |= ret->anchor >= 0 || is_start(space, ret->frames, ret->n);
        return 0;
}

/* Name of the file at an address, without its folder; "": none. */
static const char *file_of(const struct space *space, uint64_t address)
{
        const struct mapping *mapping = find_mapping(space, address);
        const char *path = mapping ? words_bytes(space->words, mapping->path, NULL) : "", *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

bool space_is_glib(const struct space *space, uint64_t address)
{
        return strncmp(file_of(space, address), "libglib-2.0.so", 14) == 0;
}

/* Is the address in a file that may have probes? */
static bool is_probed(const struct space *space, uint64_t address)
{
        return space_is_glib(space, address) || strncmp(file_of(space, address), "libgio-2.0.so", 13) == 0;
}

/* A function with a probe that is just beginning, or has returned: from its caller on. */
static bool leave_probe(const struct anchors *anchors, uint64_t registers[REGISTERS_COUNT], struct sample_stack *stack)
{
        uint64_t up = anchors && anchors->back ? anchors->back_sp - registers[REGISTERS_SP] : 0;

        if (!anchors || !anchors->back)
                return registers_return(0, registers, &stack->bytes, &stack->n_bytes);
        if (up > stack->n_bytes)
                return false;
        registers[REGISTERS_PC] = anchors->back;
        registers[REGISTERS_SP] = anchors->back_sp;
        stack->bytes += up;
        stack->n_bytes -= up;
        return true;
}

int space_unwind(struct space *space, const struct sample_stack *stack, struct unwound *ret)
{
        struct sample_stack caller = *stack;
        uint64_t registers[REGISTERS_COUNT];

        int err;

        memcpy(registers, stack->registers, sizeof(registers));
        caller.registers = registers;
        if (!is_probe_page(space, registers[REGISTERS_PC])) {
                err = unwind(space, stack, ret);
                if (err || ret->whole || REGISTERS_TRAP_BYTES == 0 || !is_probed(space, registers[REGISTERS_PC]))
                        return err;
                /* The kernel may just be looking for the probe that was met. */
                registers[REGISTERS_PC] -= REGISTERS_TRAP_BYTES;
                err = unwind(space, &caller, ret);
                return err || ret->whole ? err : unwind(space, stack, ret);
        }
        return leave_probe(stack->anchors, registers, &caller) ? unwind(space, &caller, ret) :
                                                                 unwind(space, stack, ret);
}

int space_unwind_maker(struct space *space, const struct sample_stack *stack, struct unwound *ret)
{
        for (int way = 0; way < REGISTERS_RETURN_WAYS; way++) {
                uint64_t registers[REGISTERS_COUNT];
                struct sample_stack caller = *stack;
                int err;

                memcpy(registers, stack->registers, sizeof(registers));
                caller.registers = registers;
                if (!registers_return(way, registers, &caller.bytes, &caller.n_bytes))
                        continue;
                err = unwind(space, &caller, ret);
                if (err || ret->whole)
                        return err;
        }
        return unwind(space, stack, ret);
}
