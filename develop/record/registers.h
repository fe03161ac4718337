/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The registers of a sample: those that the kernel keeps (asm/perf_regs.h), in ascending order of its numbers,
 * and the DWARF number of each (the psABI of the architecture).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#define REGISTERS_MASK UINT64_C(0xff01ff) /* AX BX CX DX SI DI BP SP IP, R8 to R15 */
#define REGISTERS_COUNT 17
#define REGISTERS_SP 7
#define REGISTERS_PC 8
/* DWARF number of the n-th register; the instruction pointer is 16. */
static const uint8_t registers_dwarf[REGISTERS_COUNT] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15 };
#define REGISTERS_DWARF_COUNT 17
#elif defined(__aarch64__)
#define REGISTERS_MASK UINT64_C(0x1ffffffff) /* X0 to X29, LR, SP, PC */
#define REGISTERS_COUNT 33
#define REGISTERS_SP 31
#define REGISTERS_PC 32
static const uint8_t registers_dwarf[REGISTERS_COUNT] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                          11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                          22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };
#define REGISTERS_DWARF_COUNT 32 /* the program counter has no DWARF number */
#else
#define REGISTERS_MASK UINT64_C(0)
#define REGISTERS_COUNT 1
#define REGISTERS_SP 0
#define REGISTERS_PC 0
static const uint8_t registers_dwarf[REGISTERS_COUNT] = { 0 };
#define REGISTERS_DWARF_COUNT 1
#endif

/* Size of the return address that a call has put on the stack when the function begins; 0: it is in a register. */
#if defined(__x86_64__)
#define REGISTERS_CALL_BYTES 8
#define REGISTERS_TRAP_BYTES 1 /* size of a probe's instruction, int3; the program counter is behind it */
#else
#define REGISTERS_CALL_BYTES 0
#define REGISTERS_TRAP_BYTES 0
#endif

/*
 * The registers as they will be after a function without a frame of its own has returned: its return
 * address is on top of the stack (clone), or in the first argument's register (vfork keeps it there);
 * elsewhere in the link register.
 */
#define REGISTERS_RETURN_WAYS 2

static inline bool registers_return(int way, uint64_t registers[REGISTERS_COUNT], const char **stack, size_t *n)
{
#if defined(__x86_64__)
        if (way == 1) {
                registers[REGISTERS_PC] = registers[5]; /* DI */
                return true;
        }
        if (*n < sizeof(uint64_t))
                return false;
        memcpy(&registers[REGISTERS_PC], *stack, sizeof(uint64_t));
        registers[REGISTERS_SP] += sizeof(uint64_t);
        *stack += sizeof(uint64_t);
        *n -= sizeof(uint64_t);
        return true;
#elif defined(__aarch64__)
        registers[REGISTERS_PC] = registers[30];
        return way == 0;
#else
        return false;
#endif
}
