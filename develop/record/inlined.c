/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dwarf.h>
#include <stdlib.h>

#include "inlined.h"

static const char *name_of(Dwarf_Die *function)
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

size_t inlined_names(Dwfl_Module *module, uint64_t address, const char *names[INLINED_MAX])
{
        Dwarf_Die *scopes = NULL;
        int count = code_scopes(module, address, &scopes);
        size_t n = 0;

        for (int i = 0; i < count && n < INLINED_MAX && dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++) {
                const char *name = dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine ? name_of(&scopes[i]) : NULL;

                if (name)
                        names[n++] = name;
        }
        free(scopes);
        return n;
}
