package conformance

import lua "github.com/yuin/gopher-lua"

// toLua makes tables of what JSON has.
func toLua(state *lua.LState, value any) lua.LValue {
	switch is := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, inner := range is {
			table.RawSetString(key, toLua(state, inner))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, inner := range is {
			table.Append(toLua(state, inner))
		}
		return table
	case string:
		return lua.LString(is)
	case bool:
		return lua.LBool(is)
	case int64:
		return lua.LNumber(is)
	case float64:
		return lua.LNumber(is)
	}
	return lua.LNil
}

// fromLua makes of a table what JSON has. Lua cannot tell an empty list from an empty object: what it was before tells.
func fromLua(value lua.LValue, before any) any {
	switch is := value.(type) {
	case lua.LString:
		return string(is)
	case lua.LBool:
		return bool(is)
	case lua.LNumber:
		if whole := int64(is); lua.LNumber(whole) == is {
			return whole
		}
		return float64(is)
	case *lua.LTable:
		list, wasList := before.([]any)
		if is.Len() > 0 || wasList {
			return listOf(is, list)
		}
		object, _ := before.(map[string]any)
		content := map[string]any{}
		is.ForEach(func(key, inner lua.LValue) { content[key.String()] = fromLua(inner, object[key.String()]) })
		return content
	}
	return nil
}

func listOf(table *lua.LTable, before []any) []any {
	list := []any{}
	for i := 1; i <= table.Len(); i++ {
		var was any
		if i <= len(before) {
			was = before[i-1]
		}
		list = append(list, fromLua(table.RawGetInt(i), was))
	}
	return list
}
