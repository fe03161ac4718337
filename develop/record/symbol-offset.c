/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>

#include "symbol-offset.h"
#include "util/util.h"

static int offset_of(Elf *elf, uint64_t address, uint64_t *ret)
{
        size_t n = 0;

        if (elf_getphdrnum(elf, &n) < 0)
                return -ENOEXEC;
        for (size_t i = 0; i < n; i++) {
                GElf_Phdr header;

                if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD || address < header.p_vaddr ||
                    address - header.p_vaddr >= header.p_filesz)
                        continue;
                *ret = address - header.p_vaddr + header.p_offset;
                return 0;
        }
        return -ENOENT;
}

static int find_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *function, uint64_t *ret)
{
        Elf_Data *data = elf_getdata(section, NULL);
        size_t n = data && header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;

        for (size_t i = 0; i < n; i++) {
                GElf_Sym symbol;
                const char *name;

                if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
                    GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
                        continue;
                name = elf_strptr(elf, header->sh_link, symbol.st_name);
                if (name && strcmp(name, function) == 0)
                        return offset_of(elf, symbol.st_value, ret);
        }
        return -ENOENT;
}

int symbol_offset(const char *path, const char *function, uint64_t *ret)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        int err = -ENOENT;
        Elf *elf;

        if (fd < 0)
                return -errno;
        elf_version(EV_CURRENT);
        elf = elf_begin(fd, ELF_C_READ, NULL);
        if (!elf)
                return -ENOEXEC;
        for (Elf_Scn *section = elf_nextscn(elf, NULL); err == -ENOENT && section;
             section = elf_nextscn(elf, section)) {
                GElf_Shdr header;

                if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
                        err = find_in(elf, section, &header, function, ret);
        }
        elf_end(elf);
        return err;
}
